"""The input vector of a region: detector features, a label's embedding, its box, or a mix.

Regions of a real detector have features; those of a simulated one may have labels only.
Models read regions through this layer, so that they work with both.
"""

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import linear, masking

BOX_SIZE = 5


class RegionInput(keras.layers.Layer):
  """Joins the parts of a region into one vector, 0 on padding.

  It buys one place for all models that knows which parts a run has.

  Args:
    feature_size: D, 0 if regions have no features.
    num_labels: labels of the run's vocabulary (id 0, unknown, is one more); 0 for none.
    label_size: size of a label's embedding.
    use_box: appends x1, y1, x2, y2 and the area, all from 0 to 1.
    normalize: scales features to unit length.
  """

  def __init__(
    self,
    feature_size: int,
    num_labels: int = 0,
    label_size: int = 0,
    use_box: bool = False,
    normalize: bool = False,
    **kwargs,
  ):
    super().__init__(**kwargs)
    if feature_size == 0 and num_labels == 0:
      raise errors.UserError(
        "regions have neither features nor labels: set feature_size or num_labels above 0"
      )
    self.feature_size, self.use_box, self.normalize = feature_size, use_box, normalize
    self.labels = None
    if num_labels:
      self.labels = linear.embedding(num_labels + 1, label_size, name="labels")
    self.size = feature_size + (label_size if num_labels else 0) + (BOX_SIZE if use_box else 0)
    self.build((None, None, self.size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def call(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
    """[I, R, size] of a batch."""
    parts = []
    if self.feature_size:
      features = batch["features"]
      parts.append(tf.math.l2_normalize(features, -1) if self.normalize else features)
    if self.labels is not None:
      parts.append(self.labels(batch["region_labels"]))
    if self.use_box:
      parts.append(box_geometry(batch["boxes"]))
    regions = tf.concat(parts, -1) if len(parts) > 1 else parts[0]
    return tf.where(batch["region_mask"][..., tf.newaxis], regions, 0.0)

  def overall(self, batch: dict[str, tf.Tensor], regions: tf.Tensor, size: int) -> tf.Tensor:
    """One vector of the whole picture: its own feature, or the mean of its regions.

    Args:
      batch: may hold `global_feature` [I, size].
      regions: output of `call`, [I, R, self.size].
      size: G of the model; 0 takes the mean.
    """
    if size:
      return batch["global_feature"]
    return masking.masked_mean(regions, batch["region_mask"][..., tf.newaxis], axis=1)


def box_geometry(boxes: tf.Tensor) -> tf.Tensor:
  """x1, y1, x2, y2 and the share of the picture's area: [..., 4] -> [..., 5]."""
  x1, y1, x2, y2 = tf.split(boxes, 4, axis=-1)
  return tf.concat([boxes, (x2 - x1) * (y2 - y1)], -1)
