"""The output that greedy decoding, sampling and beam search share."""

import dataclasses
from typing import Any

import tensorflow as tf

from gcap_tf.captioners import base, branches
from gcap_tf.decoding import constraints, grounding

Decoded = dict[str, tf.Tensor]


@dataclasses.dataclass(frozen=True)
class Frames:
  """The frames of regions in a video.

  Attributes:
    frame: int32 [B, R], -1 on padding.
    count: F.
    eliminate: whether the branches of the attention exclude each other.
    branches: K.
  """

  frame: tf.Tensor
  count: int
  eliminate: bool
  branches: int

  def boxes(self, attention: tf.Tensor, winners: tf.Tensor, boxes: tf.Tensor) -> tf.Tensor:
    """See `grounding.frame_boxes`."""
    return grounding.frame_boxes(
      attention, winners, boxes, self.frame, self.count, self.eliminate, self.branches
    )


def frames_of(captioner: base.Captioner, memory: base.Memory, copies: int = 1) -> Frames | None:
  """The frames of a memory's regions, each picture `copies` times; None for pictures."""
  if captioner.num_frames == 1:
    return None
  frame = tf.where(memory["region_mask"], memory["frame"], -1)
  frame = frame if copies == 1 else tf.repeat(frame, copies, axis=0)
  return Frames(frame, captioner.num_frames, captioner.config.elimination, captioner.branches)


def branch_logits(emitted: dict[str, tf.Tensor]) -> tf.Tensor:
  """Logits per branch of a captioner's step, [B, K, V]; K = 1 if it has one branch."""
  if "branch_logits" in emitted:
    return emitted["branch_logits"]
  return emitted["logits"][:, tf.newaxis]


def winners(
  emitted: dict[str, tf.Tensor], token: tf.Tensor, rules: constraints.Constraint
) -> tf.Tensor:
  """Branches that named the chosen word, bool [B, K].

  Args:
    emitted: a captioner's step.
    token: the chosen word, int32 [B].
    rules: those that the branches voted under.
  """
  logits = branch_logits(emitted)
  if logits.shape[1] == 1:
    return tf.ones(tf.shape(logits)[:2], tf.bool)
  return branches.winners(rules.lower(logits), token)


def keep_shapes(new: Any, old: Any) -> Any:
  """`new` with the static shapes of `old`, which the variables of a loop must keep."""
  return tf.nest.map_structure(lambda x, like: tf.ensure_shape(x, like.shape), new, old)


def pad_steps(x: tf.Tensor, max_length: int) -> tf.Tensor:
  """Batch-major from a stack of steps, 0 after the last: [t, B, ...] -> [B, max_length, ...]."""
  rank = x.shape.rank
  missing = max_length - tf.shape(x)[0]
  x = tf.pad(x, [[0, missing], *([[0, 0]] * (rank - 1))])
  x = tf.ensure_shape(x, [max_length, *x.shape[1:]])
  return tf.transpose(x, [1, 0, *range(2, rank)])


def assemble(
  tokens: tf.Tensor,
  token_log_prob: tf.Tensor,
  attention: tf.Tensor,
  winners: tf.Tensor,
  boxes: tf.Tensor,
  frames: Frames | None = None,
) -> Decoded:
  """Builds the output of a decoder.

  Args:
    tokens: int32 [B, T], 0 from the end on.
    token_log_prob: [B, T], 0 after the end.
    attention: [B, T, K, R].
    winners: bool [B, T, K].
    boxes: [B, R, 4].
    frames: of the regions; None if there is one, as in a picture.

  Returns:
    `tokens`, `token_log_prob`; `log_prob` [B], its sum, the end of the sentence included;
    `length` [B], words without the end; `attention`, 0 in slots without a word;
    `winners`; `box_index` int32 [B, T], -1 in slots without a word; `box` [B, T, 4], 0 there;
    with `frames`, `box_frames` [B, T, F, 4], the box in every frame, 0 there.
  """
  length = tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1)
  is_word = tokens > 0
  attention = tf.where(is_word[..., tf.newaxis, tf.newaxis], attention, 0.0)
  box_index, box = grounding.word_boxes(attention, winners, boxes)
  in_frames = {}
  if frames is not None:
    found = frames.boxes(attention, winners, boxes)
    in_frames["box_frames"] = tf.where(is_word[..., tf.newaxis, tf.newaxis], found, 0.0)
  return in_frames | {
    "tokens": tokens,
    "length": length,
    "log_prob": tf.reduce_sum(token_log_prob, 1),
    "token_log_prob": token_log_prob,
    "attention": attention,
    "winners": winners & is_word[..., tf.newaxis],
    "box_index": tf.where(is_word, box_index, -1),
    "box": tf.where(is_word[..., tf.newaxis], box, 0.0),
  }
