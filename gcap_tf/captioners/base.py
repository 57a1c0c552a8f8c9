"""The captioner contract: one word at a time, and where that word looks."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import keras
import tensorflow as tf

from gcap_tf import registry

CAPTIONERS: registry.Registry[type["Captioner"]] = registry.Registry("captioner")

Batch = dict[str, tf.Tensor]
Memory = dict[str, tf.Tensor]
State = dict[str, tf.Tensor]

# What `encode` may read of a batch; the grid (cells or frames) only where the data has one.
PICTURE_KEYS = (
  *("features", "boxes", "region_mask", "region_labels", "frame", "global_feature"),
  *("grid_features", "grid_mask"),
)


@dataclasses.dataclass(frozen=True)
class CaptionerConfig:
  """What every captioner must know of its words and regions.

  Attributes:
    vocabulary_size: V, the end of a sentence (id 0) and UNK (the last id) included.
    feature_size: D, 0 where regions carry labels only.
    global_size: G of the batch's `global_feature`; 0 takes the mean of the regions instead.
    num_labels: region labels of the run's vocabulary; 0 where regions carry none.
    label_size: size of a label's embedding.
    use_box: lets the model see where a region is.
  """

  vocabulary_size: int
  feature_size: int = 2048
  global_size: int = 0
  num_labels: int = 0
  label_size: int = 300
  use_box: bool = False


class Captioner(keras.Model, abc.ABC):
  """Writes captions and tells the region of every word.

  Every memory holds `region_mask` [I, R] and `boxes` [I, R, 4] of its pictures.

  A subclass names its frozen dataclass of options in `Config` and is built as
  `cls(config)`. `seed` is int32 [2] in training (dropout), None otherwise.

  Tokens are `w1 .. wn 0 0 ..` [B, T]: id 0 ends a sentence, starts it and pads it.
  `token_mask` [B, T] is true on the n words and the one 0 that ends them. Slot t of
  logits and attention belongs to token t, the word that was emitted with them.
  """

  Config: ClassVar[type]

  def __init__(self, config: Any, **kwargs: Any):
    super().__init__(**kwargs)
    self.config = config

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
      padding), `state`; `branch_logits` [B, K, V] where the K branches vote.
    """

  def stepper(self, memory: Memory) -> Callable[..., dict[str, Any]]:
    """`(state, token, seed) -> outputs` of `step`, for a loop over words.

    A captioner that can do work once for all words does it here.
    """
    return lambda state, token, seed=None: self.step(memory, state, token, seed)

  @abc.abstractmethod
  def teacher_force(
    self, memory: Memory, tokens: tf.Tensor, seed: tf.Tensor | None = None
  ) -> dict[str, tf.Tensor]:
    """Runs over given captions.

    Args:
      memory: of I pictures.
      tokens: [B, T], B = I * captions per picture, picture-major.
      seed: of this training step, or None.
    Returns:
      `logits` [B, T, V] and `attention` [B, T, K, R].
    """


def repeat(memory: Memory, times: int) -> Memory:
  """Each picture `times` times in a row: [I, ...] -> [I * times, ...]."""
  return tf.nest.map_structure(lambda tensor: tf.repeat(tensor, times, axis=0), memory)
