"""Tests of gcap_tf/evaluation/picture_grounding.py; see also evaluators/test_grounding.py."""

import numpy as np
import pytest

from gcap_tf.evaluation import picture_grounding
from gcap_tf.metrics import grounding, results_io
from gcap_tf.metrics.activitynet import anet_io

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


def segment(*frames_and_boxes):
  """A segment whose only object word is a dog with these boxes."""
  frames, boxes = zip(*frames_and_boxes, strict=True) if frames_and_boxes else ((), ())
  return anet_io.Segment(
    ("a", "dog"),
    np.array(boxes, np.float32).reshape(-1, 4),
    np.array(frames, int),
    (("dog",),) * len(frames),
    ((1,),) * len(frames),
  )


def test_segments_of_videos_add_up_as_pictures_do():
  """One dog is found in its frame, the other is not; a segment without boxes does not count."""
  references = {"v": {"0": segment((2, HERE)), "1": segment((5, HERE)), "2": segment()}}
  boxes = np.tile(THERE, (1, 10, 1))
  boxes[0, 2] = HERE
  predicted = anet_io.PredictedSegment(("dog",), (1,), boxes)
  predictions = {"v": {"0": predicted, "1": predicted, "2": predicted}}
  found = picture_grounding.generated_segments(references, predictions, str)
  assert found["f1_all"].value == found["f1_loc"].value == pytest.approx(50.0)
  assert found["f1_all"](np.array([[2.0, 0.0, 1.0]]))[0] == pytest.approx(100.0)
  assert found["error_correct"].value == found["error_other"].value == pytest.approx(50.0)
  given = picture_grounding.given_segments(references, predictions)
  assert given.value == pytest.approx(50.0)
  assert given(np.array([[0.0, 3.0, 0.0]]))[0] == 0.0
