import dataclasses

import numpy as np
import pytest

from benchmarks import detector_oracle
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector

TARGET = np.asarray([[100, 100, 200, 200]], np.float32)
OTHERS = np.concatenate([TARGET, np.asarray([[300, 100, 360, 160]], np.float32)])


@pytest.fixture(scope="module")
def drawn():
  return list(drawn_scenes.generate(drawn_scenes.SceneConfig(train=80, val=0, test=0, seed=3)))


@pytest.mark.parametrize(
  ("box", "kind"),
  [
    ((105, 105, 205, 205), "correct"),
    ((110, 110, 160, 160), "partial"),  # inside, a quarter of it
    ((20, 20, 280, 280), "enlarged"),  # contains it, 6.8 times as large
    ((300, 102, 358, 160), "confusion"),  # the other object
    ((180, 180, 290, 290), "deviated"),  # a corner of it and much else
    ((0, 0, 40, 40), "deviated"),
  ],
)
def test_each_kind_of_error_is_told_apart(box, kind):
  assert detector_oracle.error_kind(np.asarray(box, np.float32), TARGET, OTHERS) == kind


def test_any_box_of_the_entity_counts():
  box = np.asarray([302, 101, 360, 160], np.float32)
  assert detector_oracle.error_kind(box, OTHERS, OTHERS) == "correct"


def test_shares_add_up_to_one(drawn):
  report = detector_oracle.oracle_accuracy(drawn, simulated_detector.NoisyConfig())
  shares = dataclasses.astuple(report)[1:]
  assert sum(shares) == pytest.approx(1.0)
  assert report.words > 300


def test_the_default_level_is_hard_but_possible_and_errs_by_parts(drawn):
  report = detector_oracle.oracle_accuracy(drawn, simulated_detector.NoisyConfig())
  assert 0.58 < report.accuracy < 0.75
  assert report.partial > max(report.enlarged, report.confusion, report.deviated)


def test_levels_get_harder_in_their_order(drawn):
  accuracy = [
    detector_oracle.oracle_accuracy(drawn, level).accuracy
    for level in simulated_detector.LEVELS.values()
  ]
  assert accuracy == sorted(accuracy, reverse=True)


def test_only_named_objects_count(drawn):
  record = drawn[0]
  named = {phrase.entity for caption in record.captions for phrase in caption.phrases}
  found = detector_oracle.named_objects(record)
  assert found and {entity for entity, _ in found} <= named
  assert not detector_oracle.named_objects(dataclasses.replace(record, captions=()))


def test_no_words_give_zeros():
  report = detector_oracle.oracle_accuracy([], simulated_detector.NoisyConfig())
  assert dataclasses.astuple(report) == (0, 0, 0, 0, 0, 0)
