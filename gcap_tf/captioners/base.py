"""The captioner contract: one word at a time, and where that word looks."""

import abc
from typing import Any, ClassVar

import keras
import tensorflow as tf

from gcap_tf import registry

CAPTIONERS: registry.Registry[type["Captioner"]] = registry.Registry("captioner")

Batch = dict[str, tf.Tensor]
Memory = dict[str, tf.Tensor]
State = dict[str, tf.Tensor]


class Captioner(keras.Model, abc.ABC):
  """Writes captions and tells the region of every word.

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
      memory, state: of B sequences.
      token: the word before, int32 [B]; 0 at the start.
      seed: of this step, or None.
    Returns:
      `logits` [B, V], `attention` [B, K, R] (rows sum to 1 over real regions, 0 on
      padding), `state`.
    """

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
