"""The captioner contract: one word at a time, and the regions which that word looks at.

Every captioner is a Keras model (`gcap_tf/keras_model.py`); `fit` trains it on the cross entropy of
words alone.
"""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, keras_model, registry
from gcap_tf.losses import cross_entropy

CAPTIONERS: registry.Registry[type["Captioner"]] = registry.Registry("captioner")

Batch = dict[str, tf.Tensor]
Memory = dict[str, tf.Tensor]
State = dict[str, tf.Tensor]

# What `encode` may read of a batch; the grid (cells or frames) only if the data has one.
PICTURE_KEYS = (
  *("features", "boxes", "region_mask", "region_labels", "frame", "global_feature"),
  *("grid_features", "grid_mask", "segment"),
)


@dataclasses.dataclass(frozen=True)
class CaptionerConfig:
  """Sizes of the words and regions that a captioner reads.

  Attributes:
    vocabulary_size: V, the end of a sentence (id 0) and UNK (the last id) included.
    feature_size: D; 0 if regions have labels only.
    global_size: G of the batch's `global_feature`; 0 takes the mean of the regions instead.
    global_is_mean: that `global_feature` is the mean of the regions' features; an exported
      captioner computes it then, and does not ask for it.
    num_labels: region labels of the run's vocabulary; 0 if regions have none.
    label_size: size of a label's embedding.
    use_box: the model sees where a region is.
  """

  vocabulary_size: configs.PositiveInt
  feature_size: configs.Count = 2048
  global_size: configs.Count = 0
  global_is_mean: bool = False
  num_labels: configs.Count = 0
  label_size: configs.PositiveInt = 300
  use_box: bool = False


class Captioner(keras_model.ConfiguredModel):
  """Writes captions and the region of every word.

  Every memory holds `region_mask` [I, R] and `boxes` [I, R, 4] of its pictures, and `frame`
  [I, R] if `num_frames` is above 1.

  `seed` is int32 [2] in training (dropout), None otherwise.

  Tokens are `w1 .. wn 0 0 ..` [B, T]: id 0 ends a sentence, starts it and pads it.
  `token_mask` [B, T] is true on the n words and the one 0 that ends them. Slot t of
  logits and attention belongs to token t, the word that was emitted with them.

  Attributes:
    optional_outputs: names that `teacher_force` takes in `extras`.
    takes_scheduled_sampling: whether `teacher_force` takes `scheduled_sampling`.
    word_output: a layer from hidden states [..., H] to scores of words [..., V].
  """

  optional_outputs: ClassVar[tuple[str, ...]] = ()
  takes_scheduled_sampling: ClassVar[bool] = False
  word_output: keras.layers.Layer

  @abc.abstractmethod
  def encode(self, batch: Batch, seed: tf.Tensor | None = None) -> Memory:
    """Encodes I pictures once; every tensor of the memory leads with I."""

  @abc.abstractmethod
  def initial_state(self, memory: Memory) -> State:
    """The state before the first word; every tensor leads with the memory's I."""

  @abc.abstractmethod
  def step(
    self, memory: Memory, state: State, token: tf.Tensor, seed: tf.Tensor | None = None
  ) -> dict[str, Any]:
    """Emits one word.

    Args:
      memory: of I pictures.
      state: of B = I * n sequences, picture-major; n > 1 for beams and samples.
      token: the word before, int32 [B]; 0 at the start.
      seed: of this step: `dropout.derive(seed, t)` of what `teacher_force` gets; or None.
    Returns:
      `logits` [B, V], `attention` [B, K, R] (rows sum to 1 over real regions, 0 on
      padding), `state`; `branch_logits` [B, K, V] if K branches vote.
    """

  def stepper(self, memory: Memory) -> Callable[..., dict[str, Any]]:
    """`(state, token, seed) -> outputs` of `step`, for a loop over words.

    A captioner that can do work once for all words does it here.
    """
    return lambda state, token, seed=None: self.step(memory, state, token, seed)

  @abc.abstractmethod
  def teacher_force(
    self,
    memory: Memory,
    tokens: tf.Tensor,
    seed: tf.Tensor | None = None,
    scheduled_sampling: tf.Tensor | None = None,
    extras: tuple[str, ...] = (),
  ) -> dict[str, tf.Tensor]:
    """Runs over given captions.

    Args:
      memory: of I pictures.
      tokens: [B, T], B = I * captions per picture, picture-major.
      seed: of this training step, or None.
      scheduled_sampling: the chance that a word after the first is replaced by a draw from the
        distribution before it (needs `seed`); only if `takes_scheduled_sampling`.
      extras: names of `optional_outputs` to return as well.
    Returns:
      `logits` [B, T, V], `attention` [B, T, K, R], `hidden` [B, T, K, H] (all dropout is in
      it; `word_logits` takes any of its rows), `winners` bool [B, T, K] (branches that name
      the token), and the extras.
    """

  def word_logits(self, hidden: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
    """Scores of words for rows of `hidden`: [..., H] -> [..., V]. `seed` is not used."""
    del seed
    return self.word_output(hidden)

  def reconstruct(
    self,
    memory: Memory,
    tokens: tf.Tensor,
    words: tf.Tensor,
    seed: tf.Tensor | None = None,
    query: tf.Tensor | None = None,
    keep: tf.Tensor | None = None,
  ) -> dict[str, tf.Tensor]:
    """Localises `words` and rebuilds the caption from the regions found; if `has_localizer`.

    Args:
      memory: of I pictures.
      tokens: the caption to rebuild, [B, T].
      words: the words to localise, [B, T]; integers, so no gradient passes.
      seed: of this training step, or None.
      query: `query` [B, T, H] of `teacher_force`, if `reconstruction_needs` names it.
      keep: bool [B, T]; a word points nowhere if false (zero representation).

    Returns:
      `logits` [B, T, V], `hidden` [B, T, 1, H], `attention` [B, T, 1, R] of the localiser.
    """
    raise errors.UserError(f"{type(self).__name__} has no localiser: it cannot rebuild captions")

  @property
  def branches(self) -> int:
    """K of the attention."""
    return 1

  @property
  def num_frames(self) -> int:
    """Frames that the regions of a memory are in; 1 for pictures."""
    return 1

  @property
  def num_classes(self) -> int:
    """Classes in the memory's `class_logits` [I, R, 1 + classes]; 0: it has none."""
    return 0

  @property
  def has_localizer(self) -> bool:
    """Whether `reconstruct` works."""
    return False

  @property
  def reconstruction_needs(self) -> tuple[str, ...]:
    """Extras of `teacher_force` that `reconstruct` takes as arguments."""
    return ()

  @property
  def unknown_words(self) -> Literal["allow", "suppress", "second_best"]:
    """How decoding usually treats UNK: as the captioner's released program does.

    No released program reads labels; a captioner of labels does not say UNK.
    """
    return "suppress" if self.config.num_labels else "allow"

  def word_loss(
    self,
    outputs: dict[str, tf.Tensor],
    tokens: tf.Tensor,
    word_mask: tf.Tensor,
    label_smoothing: float = 0.0,
  ) -> tf.Tensor:
    """Mean cross entropy over masked words and branches; padding costs no matrix product.

    Args:
      outputs: of `teacher_force` or `reconstruct`.
      tokens: int32 [B, T].
      word_mask: bool [B, T], the words that count.
      label_smoothing: ε.
    """
    logits = self.word_logits(tf.boolean_mask(outputs["hidden"], word_mask))  # [n, K, V]
    words = tf.boolean_mask(tokens, word_mask)[:, tf.newaxis]
    words = tf.broadcast_to(words, tf.shape(logits)[:2])
    return cross_entropy.packed_token_mean(logits, words, label_smoothing)

  def call(
    self, batch: Batch, training: bool = False, seed: tf.Tensor | None = None
  ) -> dict[str, tf.Tensor]:
    """Teacher-forced outputs for the batch's own captions.

    Args:
      batch: with `tokens`.
      training: turns dropout on.
      seed: of the dropout, int32 [2]; None takes (0, steps of the compiled optimizer).
    """
    seed = self.step_seed() if training and seed is None else seed
    seed = seed if training else None
    return self.teacher_force(self.encode(batch, seed), batch["tokens"], seed)

  def fit_loss(self, batch: Batch, training: bool) -> tf.Tensor:
    """The mean cross entropy of words."""
    outputs = self(batch, training=training)
    return self.word_loss(outputs, batch["tokens"], batch["token_mask"])


def refuse_options(
  captioner: Captioner, scheduled_sampling: tf.Tensor | None, extras: tuple[str, ...]
) -> None:
  """A `UserError` if `teacher_force` gets options that the captioner does not take."""
  if scheduled_sampling is not None:
    raise errors.UserError(f"{type(captioner).__name__} does not take scheduled sampling")
  if extras:
    raise errors.UserError(f"{type(captioner).__name__} cannot return {', '.join(extras)}")


def words_before(tokens: tf.Tensor) -> tf.Tensor:
  """The word before each word, 0 before the first: [B, T]."""
  return tf.pad(tokens[:, :-1], [[0, 0], [1, 0]])


def repeat(memory: Memory, times: int) -> Memory:
  """Each picture `times` times in a row: [I, ...] -> [I * times, ...]."""
  return tf.nest.map_structure(lambda tensor: tf.repeat(tensor, times, axis=0), memory)
