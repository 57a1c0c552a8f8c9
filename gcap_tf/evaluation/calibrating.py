"""Fits the model of confidence of a captioner on a split with annotated boxes.

Words: every grounded object word whose box can be judged (`metrics.answers.box_judgements`).
Captions: the share of their judged words that are right. The figures are cross-fitted: each picture
is scored by a fit that has not seen it; the calibration that is kept is fitted on all.
"""

import dataclasses

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.decoding import answers as answer_rules
from gcap_tf.decoding import confidence
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.metrics import lemma_source, results_io
from gcap_tf.metrics.answers import box_judgements, calibration
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words

_LEAST_WORDS = 50


@dataclasses.dataclass(frozen=True)
class Judged:
  """Judged words or captions.

  Attributes:
    evidence: [n, E].
    right: [n], from 0 to 1.
    picture: [n] number of the picture.
  """

  evidence: np.ndarray
  right: np.ndarray
  picture: np.ndarray


@dataclasses.dataclass(frozen=True)
class Result:
  """A calibration, its figures in percent, and the curves (coverage, risk) by name."""

  calibration: confidence.Calibration
  figures: dict[str, float]
  curves: dict[str, tuple[np.ndarray, np.ndarray]]


def calibrate(
  run: run_folders.Run,
  split: prepared_data.Split,
  config: decode_config.DecodeConfig,
  rules: answer_rules.AnswerRules,
  unanswered: float = 0.01,
  change: captioner_evaluation.Change | None = None,
) -> Result:
  """Captions a split and fits both scores.

  Args:
    run: the captioner.
    split: with annotated object words.
    config: how captions are found.
    rules: of the run; an earlier calibration in it is not used.
    unanswered: share of the split's captions below the threshold of an answer.
    change: what the captioner sees instead of each batch.
  """
  if not (split.has_boxes and split.data.object_classes):
    raise errors.UserError(f"{split.folder} has no annotated boxes to calibrate with")
  rules = dataclasses.replace(rules, calibration=None)
  answers = captioner_evaluation.caption_split(
    run.model, run.vocabulary, split, config, rules=rules, change=change
  )
  judged = judge_words(answers, split)
  if len(judged.right) < _LEAST_WORDS:
    raise errors.UserError(
      f"{split.folder}: {split.name} has {len(judged.right)} words whose box can be judged; "
      f"calibration needs {_LEAST_WORDS}"
    )
  word = calibration.fit(judged.evidence, judged.right)
  held_out = calibration.cross_fitted(judged.evidence, judged.right, judged.picture)
  captions = judge_captions(answers, judged, word)
  caption = calibration.fit(captions.evidence, captions.right)
  of_captions = calibration.cross_fitted(captions.evidence, captions.right, captions.picture)
  scores = caption(np.stack([_caption_evidence(answer, word) for answer in answers]))
  found = confidence.Calibration(
    word_weights=tuple(map(float, word.weights)),
    word_bias=word.bias,
    caption_weights=tuple(map(float, caption.weights)),
    caption_bias=caption.bias,
    answer_threshold=float(np.quantile(scores, unanswered)),
    fitted_on=f"{split.data.name}, {split.name}",
  )
  place = np.exp(judged.evidence[:, confidence.WORD_EVIDENCE.index("place")])
  return Result(
    found,
    _figures(judged, held_out, place, captions, of_captions),
    {
      "words": calibration.risk_coverage(held_out, judged.right),
      "words, by attention": calibration.risk_coverage(place, judged.right),
      "captions": calibration.risk_coverage(of_captions, captions.right),
    },
  )


def judge_words(answers: list[captioner_evaluation.Answer], split: prepared_data.Split) -> Judged:
  """The grounded object words of the answers whose box is known to be right or wrong."""
  path = split.data.references_path(split.name)
  value = files.read_json(path, "references")
  references = {each.image_id: each for each in results_io.read_references(path, value)}
  lemma = lemma_source.choose(None, value).lemma
  classes = object_words.ObjectClasses(split.data.object_classes)
  evidence, right, picture = [], [], []
  for number, answer in enumerate(answers):
    reference = references.get(answer.image_id)
    if reference is None or not answer.words:
      continue
    named = [
      classes.of(word) if grounded else None
      for word, grounded in zip(answer.words, answer.grounded, strict=True)
    ]
    predicted = results_io.predicted_caption(named, answer.boxes_px)
    verdicts = box_judgements.judge(reference, predicted, lemma)
    known = ~np.isnan(verdicts)
    evidence.append(answer.evidence[0][list(predicted.indices)][known])
    right.append(verdicts[known])
    picture.append(np.full(known.sum(), number))
  size = len(confidence.WORD_EVIDENCE)
  return Judged(
    np.concatenate(evidence) if evidence else np.zeros([0, size]),
    np.concatenate(right) if right else np.zeros([0]),
    np.concatenate(picture) if picture else np.zeros([0], np.int64),
  )


def judge_captions(
  answers: list[captioner_evaluation.Answer], judged: Judged, word: calibration.Logistic
) -> Judged:
  """The captions with a judged word, and the share of these words that are right."""
  pictures = np.unique(judged.picture)
  return Judged(
    np.stack([_caption_evidence(answers[number], word) for number in pictures]),
    np.array([judged.right[judged.picture == number].mean() for number in pictures]),
    pictures,
  )


def _caption_evidence(
  answer: captioner_evaluation.Answer, word: calibration.Logistic
) -> np.ndarray:
  """As `confidence.caption_evidence`, with the scores of a new fit."""
  of_words, of_caption = answer.evidence
  scores = word(of_words[answer.grounded]) if len(answer.words) else np.zeros([0])
  mean, least = (scores.mean(), scores.min()) if len(scores) else (0.0, 0.0)
  return np.array([mean, least, of_caption[confidence.CAPTION_EVIDENCE.index("words")]])


def _figures(judged, held_out, place, captions, of_captions) -> dict[str, float]:
  error, risk = calibration.expected_error, calibration.area_under_risk
  return {
    "judged_words": len(judged.right),
    "words_right": 100.0 * float(judged.right.mean()),
    "word_ece": 100.0 * error(held_out, judged.right),
    "word_ece_attention": 100.0 * error(place, judged.right),
    "word_risk": 100.0 * risk(held_out, judged.right),
    "word_risk_attention": 100.0 * risk(place, judged.right),
    "judged_captions": len(captions.right),
    "caption_ece": 100.0 * error(of_captions, captions.right),
    "caption_risk": 100.0 * risk(of_captions, captions.right),
  }
