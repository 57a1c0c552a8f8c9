"""What the training loop asks of a trainer."""

import abc
from typing import Any

import keras
import tensorflow as tf


class Trainer(abc.ABC):
  """One way of learning: a model, its losses, and how good it is now.

  Attributes:
    model: the Keras model whose trainable weights are learned.
    best_metric: the key of `evaluate()` that picks the best checkpoint (higher is better).
  """

  model: keras.Model
  best_metric: str

  @abc.abstractmethod
  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    """Named scalars, already weighted; their sum is minimised. Runs inside a tf.function.

    Args:
      batch: what the pipeline gives.
      seed: int32 [2], different at every step and replica.
    """

  def begin_epoch(self, epoch: int) -> None:
    """Called before the first step of every 0-based epoch, and of a resumed one."""
    del epoch

  def evaluate(self) -> dict[str, float]:
    """Figures on the validation split; must hold `best_metric`. Empty where there is none."""
    return {}

  def pictures(self) -> dict[str, Any]:
    """Pictures for TensorBoard after an evaluation: name -> uint8 array [H, W, 3]."""
    return {}

  def texts(self) -> dict[str, str]:
    """Texts for TensorBoard after an evaluation: name -> Markdown."""
    return {}
