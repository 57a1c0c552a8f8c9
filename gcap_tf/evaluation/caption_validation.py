"""Validation of a captioner while it is trained: CIDEr of its greedy captions."""

from collections.abc import Sequence

from gcap_tf import optional
from gcap_tf.captioners import base
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.text import vocabulary as vocabularies


class Validation:
  """Captions a split and scores the captions.

  Args:
    model: the captioner.
    vocabulary: its words.
    split: the pictures; None gives no figures.

  Attributes:
    split: the pictures.
    answers: the captions of the last call.
  """

  def __init__(
    self,
    model: base.Captioner,
    vocabulary: vocabularies.Vocabulary,
    split: prepared_data.Split | None,
  ):
    self._model, self._vocabulary, self.split = model, vocabulary, split
    self._references = read_references(split) if split else {}
    self.answers: list[captioner_evaluation.Answer] = []

  def __call__(self) -> dict[str, float]:
    if self.split is None:
      return {}
    decode = captioner_evaluation.usual_decoding(self._model)
    self.answers = captioner_evaluation.caption_split(
      self._model, self._vocabulary, self.split, decode
    )
    return {"cider": cider_score(self.answers, self._references)}


def read_references(split: prepared_data.Split) -> dict[str, list[str]]:
  """Image id -> its captions as the words that models read."""
  pictures = (split.record(position) for position in range(len(split)))
  return {p.image_id: [" ".join(caption.tokens) for caption in p.captions] for p in pictures}


def cider_score(
  answers: Sequence[captioner_evaluation.Answer], references: dict[str, list[str]]
) -> float:
  """CIDEr on the scale of papers; captions are words already, so no Java tokeniser is needed."""
  captions = {answer.image_id: [answer.caption] for answer in answers}
  wanted = {image: references[image] for image in captions}
  cider = optional.require("pycocoevalcap.cider.cider", "train")
  total, _ = cider.Cider().compute_score(wanted, captions)
  return 100.0 * float(total)
