"""Region classification: annotated regions have the class of their word (GVD, losses/gvd.py)."""

import tensorflow as tf

from gcap_tf.losses import gvd
from gcap_tf.training.regularizers import base, region_classes


@base.register("classification")
class Classification(region_classes.RegionClasses):
  """GVD's cross entropy of region classes."""

  weight_option = "classification_weight"

  def loss(self, step: base.Step) -> tf.Tensor:
    classes = self.classes(step.batch)
    return gvd.classification_loss(step.class_logits, classes, step.counted[self.name])
