"""The exported weights of a model, in float32, or in float16 to halve the file.

The exported variables are copies; a model traced inside `scope()` reads them instead of
its own. Each request casts half-precision weights to float32 once, before the decoding
loop, so the arithmetic stays float32.
"""

import contextlib
from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from gcap_tf import errors

_HALF_MAX = float(np.finfo(np.float16).max)


class ExportedWeights(tf.Module):
  """Copies of the variables of Keras models."""

  def __init__(self, models: keras.Model | Sequence[keras.Model], float16: bool = False):
    super().__init__(name="weights")
    self.float16 = float16
    models = [models] if isinstance(models, keras.Model) else models
    originals = [variable for model in models for variable in model.variables]
    self._originals = lambda: originals  # a lambda is not tracked, so the originals are not saved
    self.stored = [_store(variable, float16) for variable in originals]

  def scope(self) -> contextlib.AbstractContextManager:
    """Returns a context in which a traced model computes with the exported copies.

    Outside of tracing the model keeps its own weights, so that `verify` notices a wrong
    copy; half-precision copies are used in both cases.
    """
    if tf.executing_eagerly() and not self.float16:
      return contextlib.nullcontext()
    return keras.StatelessScope(
      state_mapping=[
        (original, tf.cast(stored, original.dtype))
        for original, stored in zip(self._originals(), self.stored, strict=True)
      ]
    )


def _store(variable: keras.Variable, float16: bool) -> tf.Variable:
  value = variable.value.numpy()
  if float16 and value.dtype == np.float32:
    if value.size and np.abs(value).max() > _HALF_MAX:
      raise errors.UserError(
        f"weight {variable.path} is too large for float16; export without --float16_weights"
      )
    value = value.astype(np.float16)
  name = variable.path.replace("/", "_")
  return tf.Variable(value, trainable=False, name=name)
