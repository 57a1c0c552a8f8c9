"""What GVD's grounding and classification share: the region class that each word names."""

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import base as captioner_base
from gcap_tf.losses import gvd
from gcap_tf.text import lemmas
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training.regularizers import base


class RegionClasses(base.Regularizer):
  """A regulariser over annotated words that name a region label."""

  batch_keys = ("target_regions",)

  def check_model(
    self, model: captioner_base.Captioner, vocabulary: vocabularies.Vocabulary | None
  ) -> None:
    self._word_classes = word_classes(vocabulary) if vocabulary else ()
    wanted = max(self._word_classes, default=0)
    if not wanted or model.num_classes < wanted:
      raise errors.UserError(
        "grounding_weight and classification_weight need the model gvd with one class for each of "
        f"the vocabulary's region labels: set num_classes to {wanted}"
      )

  def classes(self, batch: base.Batch) -> tf.Tensor:
    """The label id of every word of the batch, 0 for none: int32 [B, T]."""
    return tf.gather(tf.constant(self._word_classes, tf.int32), batch["tokens"])

  def counted(self, batch: base.Batch) -> tf.Tensor:
    named = (self.classes(batch) > 0)[..., tf.newaxis]
    return gvd.pairs(batch["target_regions"]) & named


def word_classes(vocabulary: vocabularies.Vocabulary) -> tuple[int, ...]:
  """The label id of every word, by the word or its lemma; 0 for words that name no label."""
  labels = vocabulary.label_ids
  if not labels:
    return ()
  return tuple(labels.get(word) or labels.get(lemmas.lemma(word), 0) for word in vocabulary.words)
