"""The contract between the training loop and a method.

A method is one file in `methods/`: a configuration that extends `loop_options.LoopOptions`, a
`Trainer`, and `train(data, config, folder)`, which ends with `loop.train(trainer, ...)`.
"""

import abc
from typing import Any

import keras
import tensorflow as tf


class Trainer(abc.ABC):
  """One way of learning: a model, its losses, and its validation.

  Attributes:
    model: the Keras model whose trainable weights are learned.
    best_metric: the key of `evaluate()` that picks the best checkpoint (higher is better).
    reported: keys of `losses()` that are logged and not minimised, such as rewards.
  """

  model: keras.Model
  best_metric: str
  reported: tuple[str, ...] = ()

  @abc.abstractmethod
  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    """Named scalars, already weighted; their sum is minimised. Runs inside a tf.function.

    If replicas share a batch, each returns its share (replicas.py) and the loop adds them.

    Args:
      batch: a batch of the data, or this replica's part of it.
      seed: int32 [2], different at every step, replica and part.
    """

  def counted(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What the means in `losses` are over, if the batch alone determines it: name -> bool mask.

    Called only if a batch is computed in parts, which are then weighted by their counts.
    """
    del batch
    return {}

  def begin_epoch(self, epoch: int) -> None:
    """Called before the first step of every 0-based epoch, and of a resumed one."""
    del epoch

  def evaluate(self) -> dict[str, float]:
    """Figures on the validation split; must hold `best_metric`. Empty without such a split."""
    return {}

  def pictures(self) -> dict[str, Any]:
    """Pictures for TensorBoard after an evaluation: name -> uint8 array [H, W, 3]."""
    return {}

  def texts(self) -> dict[str, str]:
    """Texts for TensorBoard after an evaluation: name -> Markdown."""
    return {}
