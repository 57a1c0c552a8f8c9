"""Distillation: attention of words follows that of a matcher (losses/distillation.py)."""

import tensorflow as tf

from gcap_tf.losses import distillation
from gcap_tf.training.regularizers import base


@base.register("distillation")
class Distillation(base.Regularizer):
  """Pulls the attention of `teacher_words` towards `teacher_attention` of the batch.

  These are nouns, or the parts of speech that a POS-SCAN teacher was trained to score.
  """

  weight_option = "distill_weight"
  batch_keys = ("teacher_attention", "teacher_words")

  def counted(self, batch: base.Batch) -> tf.Tensor:
    return distillation.words(batch["teacher_attention"], batch["teacher_words"])

  def loss(self, step: base.Step) -> tf.Tensor:
    teacher = step.batch["teacher_attention"]
    if self.config.distill_area:
      teacher = distillation.prefer_large(teacher, step.batch["boxes"], self.config.distill_area)
    return distillation.loss(
      self.config.distill_loss, teacher, step.attention, step.batch["teacher_words"]
    )
