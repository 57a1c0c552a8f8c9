"""Tests of gcap_tf/data/prepared/borrowed_regions.py on two photographs with known regions."""

import dataclasses
import pickle

import numpy as np
import pytest

from gcap_tf.data import records
from gcap_tf.data.prepared import borrowed_regions, labelled_regions
from gcap_tf.data.stores import extracted_store, feature_folders
from gcap_tf.text import object_words
from gcap_tf.vision import annotations

LABELS = ("man", "woman", "dog", "tree", "ball")
CLASSES = object_words.ObjectClasses(LABELS)
COLUMNS = {"picture": [0, 2], "geometry": [2, 10], "labels": [10, 15], "score": [15, 16]}
ONE = borrowed_regions.BorrowConfig(donors=1)
# Photographs of 100 x 100 pixels; each region's first number is 10 x photograph + row.
MEN = ((0, 0, 40, 40), (0, 4, 40, 40), (60, 60, 90, 90), (50, 0, 60, 10))
BALLS = ((10, 10, 30, 30), (70, 70, 95, 95))


def _record(image_id, *named, size=(100, 100)):
  """One caption: "the red ball and the man" for (("red ball", box), ("man", box))."""
  tokens, phrases = [], []
  for text, box in named:
    start = len(tokens)
    tokens += ["the", *text.split()]
    phrases.append(records.Phrase(start, len(tokens), boxes_px=np.float32([box])))
  caption = records.Caption("0", " ".join(tokens), tuple(tokens), phrases=tuple(phrases))
  annotated = tuple(records.AnnotatedObject("", np.float32(box)) for _, box in named)
  return records.Record(image_id, "train", *size, (caption,), annotated=annotated)


PHOTOGRAPHS = (
  _record("1", ("man", MEN[0]), ("red ball", MEN[2])),
  _record("2", ("blue ball", BALLS[0]), ("dog", (0, 50, 20, 60))),
)


@pytest.fixture
def source(tmp_path):
  """Lends regions of the two photographs."""
  info = extracted_store.StoreInfo(
    detector="none",
    regions=6,
    min_score=0.0,
    feature_size=16,
    global_size=1,
    grid_size=1,
    grid_cells=1,
    columns=COLUMNS,
    labels=LABELS,
    colours=annotations.COLOURS,
    fingerprint="",
  )
  for number, boxes in ((1, MEN), (2, BALLS)):
    features = np.zeros((len(boxes), 16), np.float32)
    features[:, 0] = 10 * number + np.arange(len(boxes))
    regions = records.Regions(
      boxes_px=np.float32(boxes),
      features=features,
      labels=("man",) * len(boxes),
      scores=np.linspace(0.9, 0.5, len(boxes), dtype=np.float32),
      global_feature=np.float32([number]),
      grid_features=np.float32([[number]]),
      colours=("red",) * len(boxes),
    )
    extracted_store.write_picture(tmp_path, str(number), regions, (100, 100))
  extracted_store.write_info(tmp_path, info)
  store = feature_folders.FolderStore(tmp_path)
  standard = labelled_regions.Standard(64, np.zeros(8), np.ones(8), 5.0, 4.0)
  frequencies = labelled_regions.Frequencies(np.full(5, 0.2), np.full(11, 1 / 11))
  config = labelled_regions.LabelledConfig()
  labelled = labelled_regions.LabelledRegions(info, CLASSES, standard, frequencies, config)
  pictures = [annotations.of_record(record, CLASSES) for record in PHOTOGRAPHS]
  boxes = [borrowed_regions.regions_of(store, picture.image_id)[1] for picture in pictures]
  bank = borrowed_regions.bank(pictures, boxes, len(LABELS))
  return borrowed_regions.BorrowedRegions(labelled, bank, store, ONE)


def _lent(found):
  return sorted(found.features[:, 0].round().astype(int).tolist())


def test_a_box_borrows_the_regions_that_show_the_same_thing_and_the_donor_its_background(source):
  found = source.of(_record("7", ("man", (20, 20, 60, 100))))
  assert _lent(found) == [10, 11, 13]  # Both regions of the man; 13 shows nothing annotated.
  assert found.labels == ("man",) * 3 and found.global_feature.tolist() == [1.0]
  man = found.boxes_px[found.features[:, 0].round() == 10][0]
  np.testing.assert_allclose(man, (20, 20, 60, 100))


def test_a_region_lies_in_the_new_box_as_in_the_old_one(source):
  found = source.of(_record("7", ("man", (20, 20, 60, 100)), size=(200, 100)))
  moved = found.boxes_px[found.features[:, 0].round() == 11][0]
  np.testing.assert_allclose(moved, (20, 28, 60, 100), atol=1e-4)
  first, end = COLUMNS["geometry"]
  expected = source.labelled.geometry(found.boxes_px, 200, 100)
  np.testing.assert_allclose(found.features[:, first:end], expected, atol=2e-3)


def test_the_colour_that_phrases_name_is_preferred(source):
  for colour, row in (("red", 12), ("blue", 20)):
    found = source.of(_record("7", (f"{colour} ball", (0, 0, 50, 50))))
    assert row in _lent(found)
  both = dataclasses.replace(source, config=borrowed_regions.BorrowConfig(donors=2))
  either = {row for i in range(20) for row in _lent(both.of(_record(f"{i}", ("ball", BALLS[0]))))}
  assert {12, 20} <= either


def test_the_surest_regions_come_first_and_at_most_as_many_as_a_photograph_has(source):
  boxes = [(i, i, i + 40, i + 40) for i in range(5)]
  found = source.of(_record("7", *(("man", box) for box in boxes)))
  assert found.count == 6
  assert (np.diff(found.scores) <= 0).all()


def test_two_things_of_one_name_borrow_from_two_boxes(source):
  found = source.of(_record("7", ("red ball", (0, 0, 50, 50)), ("ball", (50, 50, 90, 90))))
  assert {12, 20} <= set(_lent(found))


def test_a_name_that_no_photograph_shows_borrows_the_background_alone(source):
  found = source.of(_record("7", ("dog", (0, 0, 50, 50))))
  assert _lent(found) == [21]  # The donor's dog is at no region of it.


def test_regions_follow_from_the_picture_alone_and_the_source_can_be_pickled(source):
  record = _record("7", ("ball", (0, 0, 50, 50)), ("man", (10, 10, 90, 90)))
  again = pickle.loads(pickle.dumps(source)).of(record)
  np.testing.assert_array_equal(source.of(record).features, again.features)
