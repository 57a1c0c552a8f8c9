"""Validation of a captioner while it is fine-tuned: CIDEr of its greedy captions."""

from gcap_tf.captioners import base
from gcap_tf.data import prepared
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import captioner_evaluation, captioner_training


class Validation:
  """Captions a split and scores the captions.

  Args:
    model: the captioner.
    vocabulary: its words.
    split: the pictures; None gives no figures.
  """

  def __init__(
    self,
    model: base.Captioner,
    vocabulary: vocabularies.Vocabulary,
    split: prepared.Split | None,
  ):
    self._model, self._vocabulary, self._split = model, vocabulary, split
    self._references = captioner_training.references_of(split) if split else {}

  def __call__(self) -> dict[str, float]:
    if self._split is None:
      return {}
    decode = captioner_evaluation.usual_decoding(self._model)
    answers = captioner_evaluation.caption_split(self._model, self._vocabulary, self._split, decode)
    return {"cider": captioner_training.cider_of(answers, self._references)}
