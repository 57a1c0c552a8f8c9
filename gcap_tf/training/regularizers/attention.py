"""Supervised attention: scores of annotated words' regions are raised (GVD, losses/gvd.py)."""

import tensorflow as tf

from gcap_tf.losses import gvd
from gcap_tf.training.regularizers import base


@base.register("attention")
class Attention(base.Regularizer):
  """GVD's loss on the attention scores."""

  weight_option = "attention_weight"
  batch_keys = ("target_regions",)
  extras = ("scores",)

  def counted(self, batch: base.Batch) -> tf.Tensor:
    return gvd.pairs(batch["target_regions"])

  def loss(self, step: base.Step) -> tf.Tensor:
    return gvd.attention_loss(step.scores, step.counted[self.name], step.supervised_regions)
