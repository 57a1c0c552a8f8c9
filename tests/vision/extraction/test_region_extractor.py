import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import detector_runs
from gcap_tf.vision import folds
from gcap_tf.vision.extraction import region_extractor
from tests.vision import picture_files, small_detector


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory):
  return small_detector.write_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(name="picture", scope="module")
def _picture(tmp_path_factory):
  path = tmp_path_factory.mktemp("pictures") / "a.png"
  picture_files.photograph(90, 60).save(path)
  return path


def _extractor(**options):
  config = region_extractor.ExtractionConfig(**options)
  return region_extractor.RegionExtractor(config, detector_runs.load)


def test_regions_have_everything_that_a_store_keeps(run, picture):
  extractor = _extractor(detector=run, regions=5)
  found, size = extractor.extract("a", picture)
  info = extractor.info()
  assert size == (90, 60) and found.count == 5
  assert found.features.shape == (5, info.feature_size)
  assert found.global_feature.shape == (info.global_size,)
  assert found.grid_features.shape == (info.grid_cells, info.grid_size)
  assert set(found.labels) <= set(small_detector.LABELS)
  assert set(found.colours) <= set(small_detector.COLOURS)
  assert (found.boxes_px[:, 2:] > found.boxes_px[:, :2]).all()
  assert (found.boxes_px[:, 2:] <= [90, 60]).all()
  assert found.scores[0] == found.scores.max()


def test_a_training_picture_is_looked_at_by_the_run_that_has_not_seen_it(tmp_path, run, picture):
  other = small_detector.write_run(tmp_path / "other", change=50.0)  # It says "man" to all.
  ids = {folds.fold(str(number), 2): str(number) for number in range(20)}
  listed = tmp_path / "train.txt"
  listed.write_text("\n".join(ids.values()))
  extractor = _extractor(detector=run, folds=(run, other), train_ids=str(listed), regions=3)
  own, _ = extractor.extract(ids[0], picture)
  crossed, _ = extractor.extract(ids[1], picture)
  rest, _ = extractor.extract("not listed", picture)
  assert set(crossed.labels) == {"man"} and set(own.labels) != {"man"}
  assert own.labels == rest.labels
  np.testing.assert_array_equal(own.features, rest.features)


def test_boxes_of_another_detector_are_described(tmp_path, run, picture):
  rows = [
    {"image_id": "a", "bbox": [9, 6, 45, 30], "category": "puppy", "score": 0.95},
    {"image_id": "a", "bbox": [10, 6, 45, 30], "category": "person", "score": 0.5},
    {"image_id": "a", "bbox": [60, 30, 20, 20], "category": "zither", "score": 0.4},
  ]
  path = tmp_path / "found.json"
  path.write_text(json.dumps(rows))
  found, _ = _extractor(detector=f"detections:{path}", describer=run).extract("a", picture)
  np.testing.assert_allclose(found.boxes_px, [[9, 6, 54, 36], [60, 30, 80, 50]], rtol=1e-5)
  assert found.labels[0] == "dog"  # A puppy, by the table of labels.
  np.testing.assert_allclose(found.scores, [0.95, 0.4])


def test_nothing_found_is_the_whole_picture(tmp_path, run, picture):
  path = tmp_path / "found.json"
  path.write_text(json.dumps({"images": [{"id": "a", "width": 9, "height": 6}], "annotations": []}))
  found, _ = _extractor(detector=f"detections:{path}", describer=run).extract("a", picture)
  assert found.boxes_px.tolist() == [[0, 0, 90, 60]] and found.scores.tolist() == [0]


def test_folds_of_another_detector_are_an_error():
  with pytest.raises(errors.UserError, match="trained elsewhere"):
    region_extractor.ExtractionConfig(detector="tflite:a", folds=("b",))
