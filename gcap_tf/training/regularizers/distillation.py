"""Distillation: attention on nouns follows that of a matcher (losses/distillation.py)."""

import tensorflow as tf

from gcap_tf.losses import distillation
from gcap_tf.training.regularizers import base


@base.register("distillation")
class Distillation(base.Regularizer):
  """Pulls the attention of each noun towards `teacher_attention` of the batch."""

  weight_option = "distill_weight"
  batch_keys = ("teacher_attention",)

  def counted(self, batch: base.Batch) -> tf.Tensor:
    return distillation.words(batch["teacher_attention"], batch["noun_mask"])

  def loss(self, step: base.Step) -> tf.Tensor:
    teacher = step.batch["teacher_attention"]
    if self.config.distill_area:
      teacher = distillation.prefer_large(teacher, step.batch["boxes"], self.config.distill_area)
    return distillation.loss(
      self.config.distill_loss, teacher, step.attention, step.batch["noun_mask"]
    )
