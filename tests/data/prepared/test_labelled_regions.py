# bazel: size = "large"

import dataclasses
import pickle

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import box_geometry, errors
from gcap_tf.data import records, validation
from gcap_tf.data.prepared import labelled_regions
from gcap_tf.data.stores import extracted_store
from gcap_tf.text import object_words
from gcap_tf.vision import annotations, canvas, regions
from tests.vision import small_detector

EXACT = labelled_regions.LabelledConfig(shake=0.0, doubled=0.0)
LABELS = small_detector.LABELS
FREQUENCIES = labelled_regions.Frequencies(np.array([0.4, 0.3, 0.1, 0.1, 0.1]), np.full(11, 1 / 11))
BALL, MAN = np.float32([10, 20, 30, 40]), np.float32([40, 0, 90, 80])


@pytest.fixture(scope="module")
def maker():
  return regions.RegionMaker(small_detector.make())


@pytest.fixture(scope="module")
def opened(maker):
  """Opens the source of regions in the small detector's layout."""
  info = extracted_store.StoreInfo(
    detector="small",
    regions=36,
    min_score=0.0,
    feature_size=maker.feature_size,
    global_size=maker.global_size,
    grid_size=maker.grid_size,
    grid_cells=regions.CELLS,
    columns=maker.columns,
    labels=LABELS,
    colours=annotations.COLOURS,
    fingerprint="",
  )
  mean, deviation = (values.numpy() for values in maker.standard_of("geometry"))
  standard = labelled_regions.Standard(
    small_detector.SIZE, mean, deviation, regions.LIMIT, regions.SCALE
  )
  classes = object_words.ObjectClasses(LABELS)

  def of(config):
    return labelled_regions.LabelledRegions(info, classes, standard, FREQUENCIES, config)

  return of


@pytest.fixture(scope="module")
def make(opened):
  return lambda config, record: opened(config).of(record)


def _record(image_id="7", boxes=(BALL, MAN)):
  """Two captions: "a red ball and a man", "a ball and a woman" of the same two boxes."""
  captions = []
  for number, text in enumerate(("a red ball and a man", "a ball and a woman")):
    tokens = tuple(text.split())
    end = tokens.index("ball") + 1
    phrases = (
      records.Phrase(0, end, boxes_px=np.stack([boxes[0]])),
      records.Phrase(end + 1, len(tokens), boxes_px=np.stack(boxes[1:])),
    )
    captions.append(records.Caption(str(number), text, tokens, phrases=phrases))
  annotated = tuple(records.AnnotatedObject("", box) for box in boxes)
  return records.Record(image_id, "train", 100, 80, tuple(captions), annotated=annotated)


def _part(maker, found, name):
  first, end = maker.columns[name]
  return found.features[:, first:end]


def _row(found, box):
  """The region that shows a box."""
  return int(box_geometry.iou(box[None], found.boxes_px)[0].argmax())


def test_labels_mix_what_phrases_say_with_how_frequent_words_are(make, maker):
  found = make(dataclasses.replace(EXACT, least_certainty=0.8, most_certainty=0.8), _record())
  probs = (_part(maker, found, "labels") / 4) ** 2
  shares = {"ball": [0, 0, 0, 0, 1], "man": [0.5, 0.5, 0, 0, 0]}
  for box, word in ((BALL, "ball"), (MAN, "man")):
    expected = 0.8 * np.array(shares[word]) + 0.2 * FREQUENCIES.labels
    np.testing.assert_allclose(probs[_row(found, box)], expected, atol=2e-3)
    assert found.labels[_row(found, box)] == word


def test_a_colour_that_nobody_names_is_as_frequent_as_always(make, maker):
  found = make(EXACT, _record())
  probs = (_part(maker, found, "colours") / 4) ** 2
  np.testing.assert_allclose(probs[_row(found, MAN)], FREQUENCIES.colours, atol=1e-3)
  assert found.colours[_row(found, BALL)] == "red"
  assert probs[_row(found, BALL)].max() > 0.4


def test_certainty_and_objectness_are_drawn_for_each_region(make, maker):
  found = make(labelled_regions.LabelledConfig(shake=0.0), _record())
  assert len(found.scores) == 4  # Each box twice.
  assert len(set(found.scores.tolist())) == 4
  assert (found.scores >= 0.3).all() and (found.scores <= 0.8).all()
  assert (np.diff(found.scores) <= 0).all()
  np.testing.assert_allclose(_part(maker, found, "score")[:, 0] / 4, found.scores, atol=1e-3)
  balls = box_geometry.iou(BALL[None], found.boxes_px)[0] > 0.9
  ball = (_part(maker, found, "labels")[balls, LABELS.index("ball")] / 4) ** 2
  assert len(set(ball.tolist())) == 2
  assert (ball > 0.4).all() and (ball < 0.96).all()


def test_geometry_is_what_extraction_computes(make, maker):
  found = make(labelled_regions.LabelledConfig(), _record())
  placed, content = canvas.place(tf.zeros([80, 100, 3], tf.uint8), small_detector.SIZE)
  boxes = found.boxes_px / np.float32([100, 80, 100, 80])
  count = len(boxes)
  given = regions.Given(
    tf.constant(boxes[None]),
    tf.constant(found.scores[None]),
    tf.fill([1, count], -1),
    tf.ones([1, count], tf.bool),
  )
  seen = maker.describe(placed[None], content[None], given)["features"][0].numpy()
  first, end = maker.columns["geometry"]
  np.testing.assert_allclose(_part(maker, found, "geometry"), seen[:, first:end], atol=5e-3)


def test_what_only_pixels_show_is_zero(make, maker):
  found = make(EXACT, _record())
  for part in ("map_8", "map_16", "map_32", "histogram"):
    assert not _part(maker, found, part).any()
  assert found.global_feature.shape == (maker.global_size,) and not found.global_feature.any()
  assert found.grid_features.shape == (regions.CELLS, maker.grid_size)
  assert not found.grid_features.any()
  np.testing.assert_array_equal(found.features, found.features.astype(np.float16))


def test_draws_follow_from_the_picture_alone(make):
  config = labelled_regions.LabelledConfig()
  first, again, other = (make(config, _record(name)) for name in ("7", "7", "8"))
  for name in ("boxes_px", "features", "scores"):
    np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(getattr(first, name), getattr(other, name))


def test_moved_boxes_stay_in_the_picture_near_what_they_show(make):
  overlaps = []
  for number in range(40):
    record = _record(str(number))
    found = make(labelled_regions.LabelledConfig(), record)
    validation.check_regions(found, "test", record.width, record.height)
    overlaps += box_geometry.iou(np.stack([BALL, MAN]), found.boxes_px).max(0).tolist()
  assert 0.6 < np.mean(overlaps) < 0.9


def test_the_largest_boxes_stay_and_repeats_fill_the_room(make):
  many = tuple(np.float32([5 * n, 0, 5 * n + 4 + n, 40]) for n in range(8))
  config = dataclasses.replace(EXACT, doubled=1.0, max_regions=10)
  found = make(config, _record(boxes=many))
  assert len(found.boxes_px) == 10 and len(np.unique(found.boxes_px, axis=0)) == 8
  found = make(dataclasses.replace(EXACT, max_regions=3), _record(boxes=many))
  np.testing.assert_allclose(np.sort(found.boxes_px[:, 0]), [25, 30, 35], rtol=1e-5)


def test_a_picture_without_boxes_is_one_region(make, maker):
  record = dataclasses.replace(_record(), annotated=(), captions=(records.Caption("1", "", ()),))
  found = make(EXACT, record)
  np.testing.assert_array_equal(found.boxes_px, [[0, 0, 100, 80]])
  probs = (_part(maker, found, "labels") / 4) ** 2
  np.testing.assert_allclose(probs, FREQUENCIES.labels[None], atol=1e-3)


def test_frequencies_count_phrases_and_one_more_of_each():
  classes = object_words.ObjectClasses(LABELS)
  found = labelled_regions.frequencies([annotations.of_record(_record(), classes)] * 2, 5)
  np.testing.assert_allclose(found.labels, np.array([3, 3, 1, 1, 5]) / 13)
  red = annotations.COLOURS.index("red")
  assert found.colours[red] == pytest.approx(3 / 13) and found.colours.sum() == pytest.approx(1)


def test_other_processes_make_the_same(opened):
  source = opened(labelled_regions.LabelledConfig())
  copy = pickle.loads(pickle.dumps(source))
  np.testing.assert_array_equal(copy.of(_record()).features, source.of(_record()).features)


def test_faults_are_named(make):
  with pytest.raises(errors.UserError, match="least_certainty is"):
    labelled_regions.LabelledConfig(least_certainty=0.9, most_certainty=0.5)
  with pytest.raises(errors.UserError, match="picture 7 has no size"):
    make(EXACT, dataclasses.replace(_record(), width=0, height=0))
