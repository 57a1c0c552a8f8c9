"""Tests of gcap_tf/evaluation/picture_grounding.py; see also evaluators/test_grounding.py."""

import numpy as np
import pytest

from gcap_tf.evaluation import picture_grounding
from gcap_tf.metrics import grounding, results_io

HERE, THERE = np.array([0, 0, 10, 10], np.float32), np.array([50, 50, 60, 60], np.float32)


def reference(image, *words):
  names = tuple(name for name, _ in words)
  boxes = np.stack([box for _, box in words])
  caption = results_io.ReferenceCaption(names, tuple(range(len(words))), names, boxes)
  return results_io.Reference(image, (caption,))


def predicted(*words):
  return [
    results_io.predicted_caption([name for name, _ in words], np.stack([box for _, box in words]))
  ]


REFERENCES = [reference("1", ("dog", HERE), ("ball", THERE)), reference("2", ("dog", HERE))]
PREDICTIONS = {"1": predicted(("dog", HERE), ("cat", HERE)), "2": predicted(("dog", THERE))}


def test_sums_over_pictures_are_the_figures_of_all():
  found = picture_grounding.generated(REFERENCES, PREDICTIONS, str)
  scores = grounding.score(REFERENCES, PREDICTIONS, str)
  assert found["f1_all"].value == pytest.approx(100 * scores.all.f1)
  assert found["f1_loc"].value == pytest.approx(100 * scores.loc.f1)
  shares = {name: stat.value for name, stat in found.items() if name.startswith("error_")}
  assert sum(shares.values()) == pytest.approx(100.0)


def test_a_resample_of_one_picture_is_that_pictures_score():
  found = picture_grounding.generated(REFERENCES, PREDICTIONS, str)
  alone = grounding.score(REFERENCES[:1], {"1": PREDICTIONS["1"]}, str)
  assert found["f1_all"](np.array([[2.0, 0.0]]))[0] == pytest.approx(100 * alone.all.f1)


def test_given_sentences_count_by_class():
  given = {"1": predicted(("dog", HERE), ("ball", HERE)), "2": predicted(("dog", HERE))}
  assert picture_grounding.given(REFERENCES, given).value == pytest.approx(50.0)
