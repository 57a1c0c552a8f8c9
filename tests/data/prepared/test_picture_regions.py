# bazel: size = "large"

import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import picture_regions, prepare
from gcap_tf.runs import detector_runs
from tests.data import make_sources
from tests.vision import picture_files, small_detector


def test_files_of_coco_are_found_by_its_numbers(tmp_path):
  for name in ("COCO_val2014_000000391895.jpg", "7.png"):
    (tmp_path / name).write_bytes(b"")
  found = picture_regions.by_id(tmp_path)
  assert found["391895"] == tmp_path / "COCO_val2014_000000391895.jpg"
  assert found["7"] == tmp_path / "7.png"


def test_pictures_without_a_file_are_left_out(tmp_path):
  for name in ("1.png", "3.png", "4.png"):
    (tmp_path / name).write_bytes(b"")
  listed = {"train": ["1", "2", "3", "4"], "test": ["9"]}
  found = picture_regions.present(tmp_path, listed, max_images=2)
  assert {split: list(own) for split, own in found.items()} == {"train": ["1", "3"]}
  with pytest.raises(errors.UserError, match="holds no picture of the dataset"):
    picture_regions.present(tmp_path, {"test": ["9"]})


def test_without_a_folder_the_flag_is_named():
  with pytest.raises(errors.UserError, match="--pictures=DIR"):
    picture_regions.present("", {})


def test_photographs_become_a_prepared_folder(tmp_path):
  source, pictures = tmp_path / "source", tmp_path / "pictures"
  ids = make_sources.write_karpathy(source, {"train": 4, "val": 2})
  pictures.mkdir()
  for image_id in ids[1:]:
    picture_files.photograph(60, 40).save(pictures / f"{image_id}.png")
  (pictures / f"{ids[1]}.png").write_bytes(b"hello")
  config = prepare.PrepareConfig(
    "karpathy",
    str(source),
    regions="pictures",
    pictures=str(pictures),
    detector=small_detector.write_run(tmp_path / "run"),
    max_regions=4,
  )
  data = prepare.prepare(config, tmp_path / "out", workers=1, open_run=detector_runs.load)
  assert data.max_regions == 4 and data.has_scores and data.has_labels
  assert data.grid_size and data.global_size
  assert data.info["detector"]["name"] == "pictures"
  assert data.split("train").image_ids.tolist() == ids[2:4]  # One has no file, one is damaged.
  assert data.split("val").image_ids.tolist() == ids[4:]
