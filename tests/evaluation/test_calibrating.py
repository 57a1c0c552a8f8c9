"""Tests of gcap_tf/evaluation/calibrating.py."""

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.decoding import confidence
from gcap_tf.evaluation import calibrating, captioner_evaluation
from gcap_tf.metrics.answers import calibration
from gcap_tf.runs import run_answers, run_words
from gcap_tf.text import word_classes
from tests.evaluation.evaluators import subjects


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
  return subjects.captioner(tmp_path_factory.mktemp("calibrating"))


@pytest.fixture(scope="module")
def rules(subject):
  names = subject.split.data.object_classes
  word_classes.WordClasses(names, (), names, ()).save(subject.run.folder / run_words.FILE)
  return run_answers.rules(subject.run)


@pytest.fixture(scope="module")
def answers(subject, rules):
  return captioner_evaluation.caption_split(
    subject.run.model, subject.run.vocabulary, subject.split, subject.config.decode, rules=rules
  )


def truthful(answers, split):
  """Answers that say an annotated word of their picture, first at its box, then elsewhere."""
  for number, answer in enumerate(answers):
    record = split.record(number)
    thing = next(thing for caption in record.captions for thing in caption.objects)
    right = thing.box_px / np.array([*answer.size, *answer.size])
    evidence = np.array([[0.0] * 5, [-3.0] * 5], np.float32)
    yield dataclasses.replace(
      answer,
      words=(thing.name, thing.name),
      grounded=np.array([True, True]),
      boxes_01=np.stack([right, np.array([0.98, 0.98, 1.0, 1.0])]),
      evidence=(evidence, np.array([0.5, 0.5, -1.0], np.float32)),
    )


def test_words_are_judged_by_the_annotation(subject, answers):
  judged = calibrating.judge_words(list(truthful(answers, subject.split)), subject.split)
  assert judged.right.tolist() == [1.0, 0.0] * 5
  assert judged.picture.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
  assert judged.evidence.shape == (10, len(confidence.WORD_EVIDENCE))


def test_captions_are_judged_by_their_words(subject, answers):
  given = list(truthful(answers, subject.split))
  judged = calibrating.judge_words(given, subject.split)
  fitted = calibration.Logistic(np.array([1.0, 0, 0, 0, 0]), 0.0)
  captions = calibrating.judge_captions(given, judged, fitted)
  assert captions.right.tolist() == [0.5] * 5
  low = 1 / (1 + np.exp(3.0))
  np.testing.assert_allclose(captions.evidence[0], [(0.5 + low) / 2, low, -1.0], rtol=1e-5)


def test_the_graph_computes_the_scores_that_were_fitted(subject, rules, answers, monkeypatch):
  monkeypatch.setattr(calibrating, "_LEAST_WORDS", 1)
  found = calibrating.calibrate(subject.run, subject.split, subject.config.decode, rules, 0.5)
  fitted = dataclasses.replace(found.calibration, answer_threshold=0.0)
  again = captioner_evaluation.caption_split(
    subject.run.model,
    subject.run.vocabulary,
    subject.split,
    subject.config.decode,
    rules=dataclasses.replace(rules, calibration=fitted),
  )
  for before, after in zip(answers, again, strict=True):
    logits = before.evidence[0] @ np.array(fitted.word_weights) + fitted.word_bias
    wanted = np.where(before.grounded, 1 / (1 + np.exp(-logits)), 0.0)
    np.testing.assert_allclose(after.word_scores, wanted, atol=1e-4)
  assert {"word_ece", "caption_ece", "word_risk"} <= found.figures.keys()
  assert found.curves.keys() == {"words", "words, by attention", "captions"}


def test_too_few_words_are_one_clear_line(subject, rules):
  with pytest.raises(errors.UserError, match="calibration needs 50"):
    calibrating.calibrate(subject.run, subject.split, subject.config.decode, rules)
