import dataclasses
import subprocess
import sys
import time

import numpy as np
import pytest

from gcap_tf import box_geometry
from gcap_tf.data import records
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector, word_prototypes


def make_record(image_id="a", things=(), width=200, height=100):
  annotated = tuple(
    records.AnnotatedObject(label, np.asarray(box, np.float32), str(i), attributes)
    for i, (label, box, attributes) in enumerate(things)
  )
  return records.Record(image_id, "train", width, height, (), annotated=annotated)


TWO = make_record(
  things=[("dog", (20, 20, 80, 80), ("brown",)), ("ball", (120, 60, 150, 90), ("red",))]
)


@pytest.fixture(scope="module")
def drawn():
  return list(drawn_scenes.generate(drawn_scenes.SceneConfig(train=25, val=0, test=0, seed=2)))


def test_perfect_gives_one_labelled_region_a_box():
  regions = simulated_detector.perfect(TWO)
  assert regions.labels == ("dog", "ball")
  assert np.array_equal(regions.boxes_px, [[20, 20, 80, 80], [120, 60, 150, 90]])
  assert regions.features is None


def test_perfect_drops_repeats_of_label_and_box_only():
  things = [("dog", (0, 0, 9, 9), ()), ("dog", (0, 0, 9, 9), ("red",)), ("cat", (0, 0, 9, 9), ())]
  assert simulated_detector.perfect(make_record(things=things)).labels == ("dog", "cat")


def test_perfect_keeps_the_largest_boxes_in_their_order():
  things = [("a", (0, 0, 50, 50), ()), ("b", (0, 0, 5, 5), ()), ("c", (0, 0, 90, 90), ())]
  assert simulated_detector.perfect(make_record(things=things), max_regions=2).labels == ("a", "c")


def test_perfect_sees_an_unannotated_picture_as_one_region():
  regions = simulated_detector.perfect(make_record(width=64, height=48))
  assert regions.labels == ("",)
  assert np.array_equal(regions.boxes_px, [[0, 0, 64, 48]])


def test_perfect_adds_every_object_word_of_the_captions():
  def caption(name, box):
    word = records.ObjectWord(0, name, np.asarray(box, np.float32))
    return records.Caption("c", name, (name,), objects=(word,))

  dog, both = (20, 20, 80, 80), (20, 20, 150, 90)
  said = (caption("toy", both), caption("dog", dog), caption("toy", both), caption("puppy", dog))
  regions = simulated_detector.perfect(dataclasses.replace(TWO, captions=said))
  assert regions.labels == ("dog", "ball", "toy", "puppy")
  assert np.array_equal(regions.boxes_px[2:], [both, dog])


@pytest.mark.parametrize("things", [[], TWO.annotated])
@pytest.mark.parametrize(("count", "size"), [(36, 256), (100, 64), (3, 2048)])
def test_noisy_has_the_configured_shapes(things, count, size):
  record = dataclasses.replace(TWO, annotated=tuple(things))
  regions = simulated_detector.noisy(
    record, simulated_detector.NoisyConfig(regions=count, feature_size=size)
  )
  assert regions.boxes_px.shape == (count, 4) and regions.boxes_px.dtype == np.float32
  assert regions.features.shape == (count, size) and regions.features.dtype == np.float32
  assert regions.global_feature is None  # Batches take the mean of the regions.
  assert regions.scores.shape == (count,) and regions.scores.dtype == np.float32
  assert len(regions.labels) == count
  assert np.isfinite(regions.features).all()


def test_noisy_is_a_function_of_picture_and_seed(drawn):
  config = simulated_detector.NoisyConfig()
  first = simulated_detector.noisy(drawn[3], config)
  simulated_detector.noisy(drawn[4], config)
  again = simulated_detector.noisy(drawn[3], config)
  assert np.array_equal(first.features, again.features)
  assert np.array_equal(first.boxes_px, again.boxes_px)
  other_seed = simulated_detector.noisy(drawn[3], dataclasses.replace(config, seed=2))
  other_picture = simulated_detector.noisy(dataclasses.replace(drawn[3], image_id="x"), config)
  assert not np.array_equal(first.boxes_px, other_seed.boxes_px)
  assert not np.array_equal(first.boxes_px, other_picture.boxes_px)


def test_noisy_is_the_same_in_another_process():
  program = (
    "from tests.data.stores.test_simulated_detector import TWO\n"
    "from gcap_tf.data.stores import simulated_detector as detectors\n"
    "print(detectors.noisy(TWO, detectors.NoisyConfig()).features.sum().item().hex())\n"
  )
  printed = subprocess.run(
    [sys.executable, "-c", program], capture_output=True, text=True, check=True
  ).stdout.strip()
  assert float.fromhex(printed) == pytest.approx(
    simulated_detector.noisy(TWO, simulated_detector.NoisyConfig()).features.sum().item(), rel=1e-5
  )


@pytest.mark.parametrize("min_good", [1, 2])
def test_every_object_gets_its_good_proposals_while_there_are_enough(drawn, min_good):
  config = simulated_detector.NoisyConfig(regions=60, min_good=min_good)
  checked = 0
  for record in drawn:
    things = simulated_detector.perfect(dataclasses.replace(record, captions=()))
    if things.count * min_good > config.regions:
      continue
    overlap = box_geometry.iou(things.boxes_px, simulated_detector.noisy(record, config).boxes_px)
    assert ((overlap > 0.5).sum(axis=1) >= min_good).all()
    checked += 1
  assert checked > 10


def test_more_objects_than_regions_serve_the_largest_first():
  things = [(f"thing{i}", (0, 0, 10 + i, 10 + i), ()) for i in range(50)]
  record = make_record(things=things)
  boxes = simulated_detector.noisy(record, simulated_detector.NoisyConfig(regions=4)).boxes_px
  largest = np.asarray([[0, 0, 59, 59]], np.float32)
  assert len(boxes) == 4
  assert (box_geometry.iou(largest, boxes) > 0.5).any()


def test_proposals_lie_in_the_picture_and_have_an_area(drawn):
  for record in drawn:
    boxes = simulated_detector.noisy(record, simulated_detector.NoisyConfig(regions=100)).boxes_px
    assert boxes.min() >= 0
    assert (boxes[:, 2] <= record.width).all() and (boxes[:, 3] <= record.height).all()
    assert (box_geometry.area(boxes) > 0).all()


def test_partial_enlarged_and_background_shares_are_what_they_say():
  things = [("dog", (80, 40, 120, 60), ())]
  record = make_record(things=things)
  box = np.asarray([[80, 40, 120, 60]], np.float32)
  only = {"partial": 0.0, "enlarged": 0.0, "background": 0.0, "regions": 400}

  def overlaps(**shares):
    boxes = simulated_detector.noisy(
      record, simulated_detector.NoisyConfig(**{**only, **shares})
    ).boxes_px
    shared = box_geometry.intersection(box, boxes)[0]
    return shared / box_geometry.area(boxes), shared / box_geometry.area(box)

  inside, _ = overlaps(partial=1.0)
  assert (inside > 0.99).mean() > 0.95  # all but the promised good box
  _, covered = overlaps(enlarged=1.0)
  assert (covered > 0.99).mean() > 0.95
  good = simulated_detector.noisy(record, simulated_detector.NoisyConfig(**only)).boxes_px
  assert box_geometry.iou(box, good).min() > 0.5


def test_a_class_signal_points_along_its_prototype():
  config = simulated_detector.NoisyConfig(noise=0.0, confusion=0.0, signal_noise=0.0)
  regions = simulated_detector.noisy(TWO, config)
  boxes = np.stack([thing.box_px for thing in TWO.annotated])
  dog_region, ball_region = box_geometry.iou(boxes, regions.boxes_px).argmax(1)
  dog = word_prototypes.class_prototype("dog", 256, config.similarity)
  cosine = regions.features @ dog / np.linalg.norm(regions.features, axis=1)
  assert cosine[dog_region] > 0.7
  assert abs(cosine[ball_region]) < 0.2


def test_features_of_unit_signal_have_the_configured_size():
  config = simulated_detector.NoisyConfig(noise=1.0, geometry_weight=0.0, rms=0.5)
  features = simulated_detector.noisy(make_record(), config).features  # noise alone, of norm 1
  assert np.sqrt(np.mean(features**2)) == pytest.approx(0.5, rel=0.05)


def test_a_linear_layer_can_read_the_class(drawn):
  # Least squares from features to the label that covers the region best, tested on others.
  many = list(drawn_scenes.generate(drawn_scenes.SceneConfig(train=160, val=0, test=0, seed=7)))
  names = ("man", "dog", "sky", "tree", "car", "horse")
  config = simulated_detector.NoisyConfig()
  rows, targets = [], []
  for record in many:
    things = simulated_detector.perfect(dataclasses.replace(record, captions=()))
    regions = simulated_detector.noisy(record, config)
    overlap = box_geometry.iou(regions.boxes_px, things.boxes_px)
    for r, k in enumerate(overlap.argmax(1)):
      if overlap[r, k] > 0.6 and things.labels[k] in names:
        rows.append(regions.features[r])
        targets.append(names.index(things.labels[k]))
  x, y = np.asarray(rows), np.asarray(targets)
  half = len(x) // 2
  weights = np.linalg.lstsq(x[:half], np.eye(len(names))[y[:half]], rcond=None)[0]
  assert ((x[half:] @ weights).argmax(1) == y[half:]).mean() > 0.75


def test_scores_fall_and_labels_follow_their_regions():
  config = simulated_detector.NoisyConfig(signal_noise=0.0)
  regions = simulated_detector.noisy(TWO, config)
  assert (np.diff(regions.scores) <= 0).all()
  boxes = np.stack([thing.box_px for thing in TWO.annotated])
  overlap = box_geometry.iou(regions.boxes_px, boxes)
  for r in np.flatnonzero(overlap.max(1) > 0.5):
    assert regions.labels[r] == ("dog", "ball")[overlap[r].argmax()]


def test_pictures_of_unknown_size_use_what_the_boxes_span():
  record = dataclasses.replace(TWO, width=0, height=0)
  boxes = simulated_detector.noisy(record, simulated_detector.NoisyConfig()).boxes_px
  assert boxes[:, 2].max() <= 150 and boxes[:, 3].max() <= 90


def test_a_hundred_records_take_less_than_a_third_of_a_second(drawn):
  config = simulated_detector.NoisyConfig()
  for record in drawn:
    simulated_detector.noisy(record, config)
  start = time.process_time()
  for record in drawn * 4:
    simulated_detector.noisy(record, config)
  assert time.process_time() - start < 0.33
