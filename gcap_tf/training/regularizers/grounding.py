"""Supervised grounding: class and attention together pick a word's regions (GVD, losses/gvd.py)."""

import tensorflow as tf

from gcap_tf.losses import gvd
from gcap_tf.training.regularizers import base, region_classes


@base.register("grounding")
class Grounding(region_classes.RegionClasses):
  """GVD's loss on the sum of class and attention scores."""

  weight_option = "grounding_weight"
  extras = ("scores",)

  def loss(self, step: base.Step) -> tf.Tensor:
    classes = self.classes(step.batch)
    grounded = gvd.grounding_scores(step.class_logits, classes, step.scores)
    return gvd.attention_loss(grounded, step.counted[self.name], step.supervised_regions)
