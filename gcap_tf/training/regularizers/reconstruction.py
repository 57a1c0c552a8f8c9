"""Reconstruction: the caption again, from the regions its words point at (Cyclical's L_r)."""

import tensorflow as tf

from gcap_tf.captioners import base as captioner_base
from gcap_tf.losses import reconstruction
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training.regularizers import base


class SecondPass(base.Regularizer):
  """A regulariser that compares the two passes of a captioner with a localiser."""

  needs_localizer = True

  def check_model(
    self, model: captioner_base.Captioner, vocabulary: vocabularies.Vocabulary | None
  ) -> None:
    self.extras = model.reconstruction_needs


@base.register("reconstruction")
class Reconstruction(SecondPass):
  """Cross entropy of the reconstructed caption."""

  weight_option = "reconstruction_weight"

  def counted(self, batch: base.Batch) -> tf.Tensor:
    nouns = base.content_words(batch)
    return reconstruction.kept_words(batch["token_mask"], nouns, self.config.reconstruction_words)

  def loss(self, step: base.Step) -> tf.Tensor:
    tokens, words = step.batch["tokens"], step.counted[self.name]
    return step.model.word_loss(step.reconstructed, tokens, words)
