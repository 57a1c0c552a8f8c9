"""Validation of a matcher while it is trained: retrieval, and attention on a few pictures."""

from typing import Any

from gcap_tf import printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import matcher_evaluation, validation_pictures
from gcap_tf.matchers import base, blocks
from gcap_tf.metrics import retrieval
from gcap_tf.text import vocabulary as vocabularies


class Validation:
  """Ranks the pictures and captions of a split.

  Args:
    model: the matcher.
    vocabulary: its words.
    split: pictures and captions; None gives no figures.
  """

  def __init__(
    self,
    model: base.Matcher,
    vocabulary: vocabularies.Vocabulary,
    split: prepared_data.Split | None,
  ):
    self._model, self._vocabulary, self._split = model, vocabulary, split
    self._scorer = blocks.Scorer(model)
    self._attention = validation_pictures.MatcherAttention(model, vocabulary, split)

  def __call__(self) -> dict[str, float]:
    if self._split is None:
      return {}
    encoded = matcher_evaluation.encode_split(self._model, self._vocabulary, self._split)
    similarity = self._scorer.similarity_matrix(encoded.images, encoded.captions)
    figures = retrieval.retrieval(similarity, encoded.image_of_caption)
    attention = printing.percent(self._attention.score(), keep=("attention_threshold",))
    return figures | attention

  def pictures(self) -> dict[str, Any]:
    """Attention of the last validation, drawn."""
    return self._attention.draw()
