"""Tests of gcap_tf/data/prepared/contents.py."""

import pytest

from gcap_tf import files
from gcap_tf.data.prepared import contents, prepared_data
from tests.data import make_records


def opened(folder, detector=None, **options):
  """Small prepared data whose dataset.json names a detector."""
  make_records.prepare_small(folder, **options)
  path = folder / "dataset.json"
  info = files.read_sealed_json(path, "")
  if detector is not None:
    info["detector"] = detector
  files.write_sealed_json(path, info)
  return prepared_data.PreparedData(folder)


@pytest.fixture(scope="module")
def of_detector(tmp_path_factory):
  """The fingerprint of the same pictures with regions of a detector."""
  counter = iter(range(100))

  def fingerprint(**made_by):
    folder = tmp_path_factory.mktemp("data") / str(next(counter))
    return contents.fingerprint(opened(folder, made_by or None))

  return fingerprint


def test_the_folder_does_not_count_and_the_pictures_do(of_detector, tmp_path):
  assert of_detector() == of_detector()
  assert len(of_detector()) == 16
  assert contents.fingerprint(opened(tmp_path / "other", seed=5)) != of_detector()


def test_a_detector_counts_by_its_weights(of_detector):
  pictures = {"name": "pictures", "regions": 36}
  first = of_detector(**pictures, detector="/home/a/run", fingerprint="c5")
  assert first == of_detector(**pictures, detector="/data/b/detector", fingerprint="c5")
  assert first != of_detector(**pictures, detector="/home/a/run", fingerprint="d6")
  assert first != of_detector(**{**pictures, "regions": 20}, detector="run", fingerprint="c5")
  foreign = of_detector(**pictures, detector="tflite:/a/ssd.tflite", fingerprint="c5")
  assert foreign == of_detector(**pictures, detector="tflite:ssd.tflite", fingerprint="c5")
  assert foreign not in (first, of_detector(**pictures, detector="tflite:yolo", fingerprint="c5"))


def test_folds_count_by_their_number(of_detector):
  pictures = {"name": "pictures", "regions": 36}
  two = of_detector(**pictures, detector="shipped,/a/f0,/a/f1", fingerprint="c5")
  assert two == of_detector(**pictures, detector="shipped,/b/x,/b/y", fingerprint="again")
  assert two != of_detector(**pictures, detector="shipped,/a/f0,/a/f1,/a/f2", fingerprint="c5")
  assert two != of_detector(**pictures, detector="shipped", fingerprint="c5")


def test_a_store_counts_by_its_name(of_detector):
  assert of_detector(name="store", path="/a/regions") == of_detector(name="store", path="regions")
  assert of_detector(name="store", path="/a/regions") != of_detector(name="store", path="/a/other")


@pytest.mark.parametrize(
  ("detector", "name"),
  [
    ("/a/run", "run"),
    ("shipped,/a/f0,/a/f1", "shipped, 2 folds"),
    ("keras_hub:retinanet", "keras_hub:retinanet"),
  ],
)
def test_regions_are_described(tmp_path, detector, name):
  data = opened(tmp_path / "data", {"name": "pictures", "detector": detector})
  assert contents.describe_regions(data) == f"pictures regions of {name}"
  noisy = opened(tmp_path / "noisy", {"name": "noisy", "seed": 1})
  assert contents.describe_regions(noisy) == "noisy regions"
