"""Consistency: both passes of a captioner attend to the same regions (Cyclical's variant)."""

import tensorflow as tf

from gcap_tf.losses import reconstruction
from gcap_tf.training.regularizers import base
from gcap_tf.training.regularizers import reconstruction as second_pass


@base.register("consistency")
class Consistency(second_pass.SecondPass):
  """Pulls the decoder's attention towards the localiser's."""

  weight_option = "consistency_weight"

  def counted(self, batch: base.Batch) -> tf.Tensor:
    nouns = base.content_words(batch)
    return reconstruction.kept_words(batch["token_mask"], nouns, self.config.localized_words)

  def loss(self, step: base.Step) -> tf.Tensor:
    localized = step.reconstructed["attention"][:, :, 0]
    return reconstruction.consistency(localized, step.attention, step.counted[self.name])
