"""Box supervision: attention of annotated words falls on their boxes (losses/boxes.py)."""

import tensorflow as tf

from gcap_tf.losses import boxes
from gcap_tf.training import loss_options
from gcap_tf.training.regularizers import base


@base.register("boxes")
class Boxes(base.Regularizer):
  """Pulls attention towards the regions that overlap with a word's annotated box."""

  weight_option = "box_weight"
  batch_keys = ("target_regions",)

  @classmethod
  def weight_in(cls, config: loss_options.CaptioningLosses) -> float:
    return 0.0 if config.box_supervision == "none" else config.box_weight

  def counted(self, batch: base.Batch) -> tf.Tensor:
    return boxes.positives(self.config.box_supervision, batch["target_regions"])

  def loss(self, step: base.Step) -> tf.Tensor:
    targets, allowed, attention = (
      step.batch["target_regions"],
      step.supervised_regions,
      step.attention,
    )
    if step.model.num_frames > 1:
      attention = boxes.in_annotated_frames(attention, allowed)
    return boxes.loss(self.config.box_supervision, targets, attention, allowed)
