"""How sure an answer is: for each word that names a thing, the probability that its box is right.

    word_score = σ(w · e + b)       e: the evidence of a word, `WORD_EVIDENCE`
    score      = σ(v · c + d)       c: the evidence of a caption, `CAPTION_EVIDENCE`

`score` is the expected share of a caption's things whose box is right. The weights are fitted on a
split with annotated boxes (`evaluation.calibrating`) and kept in RUN/calibration.json. A run
without that file answers the attention on the box as `word_score`, which is not a probability.
"""

import dataclasses

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.decoding import grounding

# ln of the attention on the word's region; of that on all regions that cover the same place; ln p
# of the word; ln of the number of regions, and of those with the label of the word's region.
WORD_EVIDENCE = ("peak", "place", "word", "regions", "namesakes")
# Mean and least word_score of the things (0 if there is none); mean ln p of the words.
CAPTION_EVIDENCE = ("mean_score", "least_score", "words")
_FLOOR = 1e-6
_LEAST_LOG_PROB = -10.0
_SAME_PLACE = 0.5  # IoU


@dataclasses.dataclass(frozen=True)
class Calibration:
  """A fitted model of confidence.

  Attributes:
    word_weights, word_bias: w and b, for `WORD_EVIDENCE`.
    caption_weights, caption_bias: v and d, for `CAPTION_EVIDENCE`.
    answer_threshold: a captioner of features does not answer below this score.
    fitted_on: dataset and split.
  """

  word_weights: tuple[float, ...]
  word_bias: float
  caption_weights: tuple[float, ...]
  caption_bias: float
  answer_threshold: configs.Fraction = 0.0
  fitted_on: str = ""


def word_evidence(
  attention: tf.Tensor,
  box_index: tf.Tensor,
  token_log_prob: tf.Tensor,
  boxes: tf.Tensor,
  region_labels: tf.Tensor,
  region_mask: tf.Tensor,
) -> tf.Tensor:
  """What is known of each word's box: float32 [B, T, E], see `WORD_EVIDENCE`.

  Args:
    attention: [B, T, R], mean of the winning branches.
    box_index: int32 [B, T], the region of each word; below 0 for none.
    token_log_prob: [B, T].
    boxes: [B, R, 4].
    region_labels: int32 [B, R].
    region_mask: bool [B, R].
  """
  picked = tf.maximum(box_index, 0)
  real = tf.cast(region_mask, tf.float32)
  numbers = tf.range(tf.shape(boxes)[1])
  is_itself = picked[..., tf.newaxis] == numbers  # [B, T, R]
  overlap = grounding.iou(tf.gather(boxes, picked, batch_dims=1), boxes)
  near = tf.cast((overlap > _SAME_PLACE) | is_itself, tf.float32)
  peak = tf.gather(attention, picked, batch_dims=2)
  place = tf.reduce_sum(near * attention, -1)
  count = tf.reduce_sum(real, 1, keepdims=True)
  label = tf.gather(region_labels, picked, batch_dims=1)[..., tf.newaxis]
  same = (label == region_labels[:, tf.newaxis]) & region_mask[:, tf.newaxis]
  namesakes = tf.reduce_sum(tf.cast(same, tf.float32), -1)
  return tf.stack(
    [
      tf.math.log(peak + _FLOOR),
      tf.math.log(place + _FLOOR),
      tf.maximum(token_log_prob, _LEAST_LOG_PROB),
      tf.math.log(tf.maximum(count, 1.0)) + tf.zeros_like(peak),
      tf.math.log(tf.maximum(namesakes, 1.0)),
    ],
    -1,
  )


def word_scores(
  calibration: Calibration | None, evidence: tf.Tensor, grounded: tf.Tensor
) -> tf.Tensor:
  """The probability that the box of each grounded word is right, [B, T]; 0 for other words."""
  if calibration is None:
    scores = tf.exp(evidence[..., WORD_EVIDENCE.index("place")])
  else:
    weights = tf.constant(calibration.word_weights, tf.float32)
    scores = tf.sigmoid(tf.einsum("bte,e->bt", evidence, weights) + calibration.word_bias)
  return tf.where(grounded, tf.clip_by_value(scores, 0.0, 1.0), 0.0)


def caption_evidence(
  scores: tf.Tensor, grounded: tf.Tensor, token_log_prob: tf.Tensor, length: tf.Tensor
) -> tf.Tensor:
  """float32 [B, C], see `CAPTION_EVIDENCE`; `length` is int32 [B]."""
  count = tf.reduce_sum(tf.cast(grounded, tf.float32), 1)
  mean = tf.math.divide_no_nan(tf.reduce_sum(scores, 1), count)
  least = tf.reduce_min(tf.where(grounded, scores, 1.0), 1)
  words = tf.reduce_sum(token_log_prob, 1) / tf.cast(length + 1, tf.float32)
  least = tf.where(count > 0, least, 0.0)
  return tf.stack([mean, least, tf.maximum(words, _LEAST_LOG_PROB)], -1)


def caption_score(calibration: Calibration | None, evidence: tf.Tensor) -> tf.Tensor:
  """The expected share of a caption's things whose box is right, [B]."""
  if calibration is None:
    return evidence[:, CAPTION_EVIDENCE.index("mean_score")]
  weights = tf.constant(calibration.caption_weights, tf.float32)
  return tf.sigmoid(tf.einsum("bc,c->b", evidence, weights) + calibration.caption_bias)
