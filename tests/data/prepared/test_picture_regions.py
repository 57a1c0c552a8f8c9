# bazel: size = "large"

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import picture_regions, prepare, prepared_check
from gcap_tf.runs import detector_runs, region_recipes
from tests.data import make_sources
from tests.vision import picture_files, small_detector, tiny_photographs


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


def test_train_pictures_without_a_file_stay_for_their_labels(tmp_path):
  for name in ("1.png", "3.png", "7.png"):
    (tmp_path / name).write_bytes(b"")
  listed = {"train": ["1", "2", "3"], "val": ["7", "8"]}
  found = picture_regions.present(tmp_path, listed, 2, picture_regions.LABELS)
  assert found == {
    "train": {"1": tmp_path / "1.png", "2": None},
    "val": {"7": tmp_path / "7.png"},
  }
  with pytest.raises(errors.UserError, match="holds no picture of the dataset"):
    picture_regions.present(tmp_path, {"train": ["2"]}, 0, picture_regions.LABELS)


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


def _labelled_config(folder, **changes):
  """Three train pictures and one of val; the second of train has no file."""
  source, pictures = tiny_photographs.make(folder, train=3, val=1)
  (pictures / "101.jpg").unlink()
  config = prepare.PrepareConfig(
    "flickr30k_entities",
    str(source),
    regions="pictures",
    pictures=str(pictures),
    detector=small_detector.write_run(folder / "run"),
    without_pictures="labels",
    max_regions=6,
  )
  return dataclasses.replace(config, **changes)


def test_a_record_without_a_photograph_has_regions_of_its_labels(tmp_path):
  config = _labelled_config(tmp_path)
  data = prepare.prepare(config, tmp_path / "out", workers=1, open_run=detector_runs.load)
  train = data.split("train")
  assert train.image_ids.tolist() == ["100", "101", "102"]
  assert data.split("val").image_ids.tolist() == ["103"]
  assert not (tmp_path / "out.regions" / "att" / "101.npz").exists()
  seen, labelled = train.record(0).regions, train.record(1).regions
  assert labelled.features.shape == (4, seen.features.shape[1])  # Two boxes, each twice.
  assert "ball" in labelled.labels
  columns = data.info["detector"]["columns"]
  for part, (first, end) in columns.items():
    named = part in ("geometry", "labels", "colours", "score")
    assert labelled.features[:, first:end].any() == named
  for name in ("global_feature", "grid_features"):
    assert getattr(labelled, name).shape == getattr(seen, name).shape
    assert not getattr(labelled, name).any() and getattr(seen, name).any()
  assert not prepared_check.check(data.folder).faults


def test_the_recipe_of_photographs_stays_and_the_labels_are_recorded(tmp_path):
  config = _labelled_config(tmp_path)
  mixed = prepare.prepare(config, tmp_path / "mixed", workers=1, open_run=detector_runs.load)
  config = dataclasses.replace(config, without_pictures="leave_out")
  alone = prepare.prepare(config, tmp_path / "alone", workers=1, open_run=detector_runs.load)
  assert alone.split("train").image_ids.tolist() == ["100", "102"]
  recorded = mixed.info["detector"].pop("labelled")
  assert recorded["records"] == 1 and recorded["max_regions"] == 20
  assert mixed.info["detector"] == alone.info["detector"]
  recipes = [region_recipes.read({"data": str(data.folder)}) for data in (mixed, alone)]
  assert recipes[0] == recipes[1]


def test_only_annotated_boxes_can_stand_for_a_photograph(tmp_path):
  source = tmp_path / "source"
  make_sources.write_karpathy(source, {"train": 2})
  config = prepare.PrepareConfig(
    "karpathy", str(source), regions="pictures", without_pictures="labels"
  )
  with pytest.raises(errors.UserError, match="needs photographs with annotated boxes"):
    prepare.prepare(config, tmp_path / "out", open_run=detector_runs.load)
  with pytest.raises(errors.UserError, match="goes with --regions=pictures"):
    prepare.prepare(dataclasses.replace(config, regions="none"), tmp_path / "out")
