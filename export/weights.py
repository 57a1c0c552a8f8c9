"""A model's weights as they are exported, in float32 or, to halve the file, in float16.

The exported variables are copies; a model traced inside `scope()` reads them in place
of its own. Half-precision weights are read back to float32 once per request, before
the decoding loop: the arithmetic stays float32.
"""

import contextlib

import keras
import numpy as np
import tensorflow as tf

from gcap_tf import errors

_HALF_MAX = float(np.finfo(np.float16).max)


class ExportedWeights(tf.Module):
  """Copies of a Keras model's variables."""

  def __init__(self, model: keras.Model, float16: bool = False):
    super().__init__(name="weights")
    self.float16 = float16
    originals = list(model.variables)
    self._originals = lambda: originals  # not tracked, so not saved beside the copies
    self.stored = [_store(variable, float16) for variable in originals]

  def scope(self) -> contextlib.AbstractContextManager:
    """Inside it a traced model computes with the exported copies.

    Outside of tracing the model keeps its own weights, so that a comparison of the
    two finds a copy that went wrong; half-precision copies are always used.
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
