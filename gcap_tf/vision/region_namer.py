"""Names regions: what a region vector is called, and its colour (the detector's second stage).

v = standardised vector
label  = softmax(W2 relu(norm(W1 v)))        colour = softmax(U2 relu(norm(U1 v)))
"""

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, map_norm

_COLOUR_UNITS = 128
_SALT = 701


class RegionNamer(keras.layers.Layer):
  """Two small networks on one vector.

  Args:
    inputs: size of a vector.
    labels, colours: numbers of classes.
    units: hidden units of the label network.
    rate: dropout of hidden units; inputs are dropped at a third of it.
  """

  def __init__(self, inputs: int, labels: int, colours: int, units: int, rate: float, **kwargs):
    super().__init__(**kwargs)
    self.rate = rate
    self.standard = map_norm.MapNorm(affine=False, name="standard")
    self.hidden, self.classes, self.norms = {}, {}, {}
    for name, count, width in (("label", labels, units), ("colour", colours, _COLOUR_UNITS)):
      self.hidden[name] = keras.layers.Dense(width, use_bias=False, name=f"{name}_hidden")
      self.norms[name] = map_norm.MapNorm(name=f"{name}_norm")
      self.classes[name] = keras.layers.Dense(count, name=f"{name}_logits")
      self.hidden[name].build((None, inputs))
      self.norms[name].build((None, width))
      self.classes[name].build((None, width))
    self.standard.build((None, inputs))
    self.built = True

  def call(self, vectors: tf.Tensor, seed: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
    """{"label": [N, L], "colour": [N, C]} logits of vectors [N, D]; `seed` while training."""
    training = seed is not None
    x = self.standard(vectors, training=training)
    logits = {}
    for number, name in enumerate(self.hidden):
      y = dropout.dropout(x, self.rate / 3, seed, _SALT + 2 * number)
      y = tf.nn.relu(self.norms[name](self.hidden[name](y), training=training))
      y = dropout.dropout(y, self.rate, seed, _SALT + 2 * number + 1)
      logits[name] = self.classes[name](y)
    return logits
