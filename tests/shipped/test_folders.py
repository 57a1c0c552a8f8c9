"""Tests of gcap_tf/shipped/folders.py, and of what is kept there."""

import pathlib

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.stores import region_store
from gcap_tf.decoding import user_rules
from gcap_tf.evaluation import captioner_evaluation, region_captioning
from gcap_tf.runs import detector_runs, packed_weights, run_answers, run_folders, run_words
from gcap_tf.shipped import folders
from serving import client, embedded, samples, versions

shipped = pytest.mark.skipif(
  not (folders.RUN / "config.json").exists(), reason="this tree has no shipped captioner"
)


def test_only_the_bare_name_means_the_package():
  for named in ("runs/mine", "./shipped", "shipped/", "runs/shipped"):
    assert folders.run_folder(named) == pathlib.Path(named)
  assert folders.work_folder(pathlib.Path("runs/mine")) == pathlib.Path("runs/mine")
  assert folders.work_folder(folders.PHOTOGRAPHS) == pathlib.Path("shipped")


def test_a_package_without_it_says_so_in_one_line(tmp_path, monkeypatch):
  for name in ("RUN", "MODEL", "PHOTOGRAPHS"):
    monkeypatch.setattr(folders, name, tmp_path / name)
  for name in ("shipped", "shipped_labels"):
    with pytest.raises(errors.UserError, match=r"has no shipped captioner.*name a folder"):
      run_folders.load(name)
  with pytest.raises(errors.UserError, match="has no shipped captioner"):
    folders.model_folder()


def test_the_two_captioners_have_names_of_their_own(tmp_path, monkeypatch):
  assert folders.run_folder("shipped_labels") == folders.RUN
  (tmp_path / "config.json").write_text("{}")
  monkeypatch.setattr(folders, "PHOTOGRAPHS", tmp_path)
  assert folders.run_folder("shipped") == tmp_path
  assert folders.work_folder(tmp_path) == pathlib.Path("shipped")
  assert folders.work_folder(folders.RUN) == pathlib.Path("shipped_labels")


@shipped
@pytest.mark.parametrize("folder", [folders.RUN, folders.PHOTOGRAPHS])
def test_a_shipped_run_is_packed_and_names_no_folder(folder):
  assert packed_weights.path_of(folder).exists()
  config = (folder / "config.json").read_text()
  assert '"data"' not in config and '"command"' not in config and "/tmp" not in config
  figures = files.read_json(folder / "metrics.json")
  assert figures["cider"] > 0 and 1 < figures["f1_all"] < 100
  assert "/root" not in (folder / "metrics.json").read_text()
  card = (folder / "MODEL_CARD.md").read_text()
  for part in ("## Limits", "Flickr30k Entities", "non-commercial", "CIDEr"):
    assert part in card


@shipped
def test_the_shipped_run_and_the_shipped_model_say_the_same():
  run = run_folders.load("shipped_labels", "captioner")
  assert run.model.config.num_labels and not run.model.config.feature_size
  pictures = list(samples.scene_records(2))
  config = versions.ModelConfig("captioner", folders.model_folder())
  with embedded.Server(embedded.ServerConfig(models=(config,), rest_port=None)) as server:
    asker = client.Client(server.address)
    boxes = [p.regions.boxes_px / np.array([p.width, p.height] * 2) for p in pictures]
    answers = asker.caption(None, boxes, [p.regions.labels for p in pictures])
    asker.close()
  for picture, answer in zip(pictures, answers, strict=True):
    assert [_caption(run, picture)] == [answer.caption]
    assert answer.grounded.any(), "no word of the caption names a thing"


def _caption(run, picture) -> str:
  class One(region_store.RegionStore):
    def ids(self):
      return [picture.image_id]

    def size(self, image_id):
      return picture.width, picture.height

    def _read(self, image_id):
      return picture.regions

  usual = captioner_evaluation.usual_decoding(run.model)
  classes = run_words.of(run.folder, run.vocabulary)
  config = user_rules.UserRules().apply(usual, run.vocabulary, classes)
  rules = run_answers.rules(run)
  (row,) = region_captioning.caption_store(run, One("scenes"), config, rules=rules)
  return row["caption"]


@shipped
def test_all_shipped_weights_are_small():
  everything = [path for path in folders.RUN.parent.rglob("*") if path.is_file()]
  assert sum(path.stat().st_size for path in everything) < 40e6


def test_a_package_without_a_detector_says_so_in_one_line(tmp_path, monkeypatch):
  monkeypatch.setattr(folders, "DETECTOR", tmp_path)
  with pytest.raises(errors.UserError, match="has no shipped detector"):
    folders.detector_folder("shipped")
  assert folders.detector_folder("runs/eyes") == pathlib.Path("runs/eyes")


def test_the_shipped_detector_is_small_names_no_folder_and_loads():
  assert sum(path.stat().st_size for path in folders.DETECTOR.iterdir()) < 8e6
  config = (folders.DETECTOR / "config.json").read_text()
  assert '"sources"' not in config and '"command"' not in config and "/tmp" not in config
  run = detector_runs.load("shipped")
  assert len(run.labels) == run.detector.config.labels == 480 and "shirt" in run.labels
  assert (folders.DETECTOR / "MODEL_CARD.md").exists()
