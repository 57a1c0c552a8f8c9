import dataclasses
import hashlib
import os
import pathlib
import select
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import prepare, prepared_check, prepared_data
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from gcap_tf.text import object_words
from tests.data import make_sources, make_videos

SCENES = drawn_scenes.SceneConfig(train=7, val=3, test=0, captions=2)


def _digest(folder):
  digest = hashlib.sha256()
  for path in sorted(folder.iterdir()):
    digest.update(path.name.encode() + path.read_bytes())
  return digest.hexdigest()


def _config(**options):
  return prepare.PrepareConfig(**{"dataset": "scenes", "scenes": SCENES, **options})


def test_all_runners_write_the_same_folder(tmp_path):
  config = _config(regions="noisy", noisy=simulated_detector.NoisyConfig(regions=4, feature_size=8))
  for name, options in (
    ("one", {"workers": 1}),
    ("two", {"workers": 2}),
    ("beam", {"runner": "DirectRunner"}),
  ):
    prepare.prepare(config, tmp_path / name, **options)
  assert _digest(tmp_path / "one") == _digest(tmp_path / "two") == _digest(tmp_path / "beam")


def test_tagged_captions_are_the_same_from_all_runners(tmp_path):
  ids = make_sources.write_karpathy(tmp_path / "raw", {"train": 5, "val": 3})
  make_sources.write_store(tmp_path / "regions", ids)
  # Without picture files the size of the pictures is unknown, so boxes are left out.
  for path in (tmp_path / "regions" / "box").iterdir():
    path.unlink()
  (tmp_path / "regions" / "box").rmdir()
  config = prepare.PrepareConfig(
    "karpathy", source=str(tmp_path / "raw"), regions=str(tmp_path / "regions")
  )
  for name, workers in (("one", 1), ("two", 2)):
    data = prepare.prepare(config, tmp_path / name, workers=workers)
  assert _digest(tmp_path / "one") == _digest(tmp_path / "two")
  caption = data.split("train").record(0).captions[0]
  assert caption.tokens == ("a", "dog", "sees", "the", "ball")
  assert caption.tags == ("DET", "NOUN", "VERB", "DET", "NOUN")


def test_a_prepared_folder_passes_its_check(tmp_path):
  data = prepare.prepare(_config(), tmp_path / "out", workers=1)
  assert data.splits == ("train", "val") and len(data.split("train")) == 7
  assert data.object_classes == tuple(drawn_scenes.class_names())
  assert data.info["detector"]["name"] == "perfect"
  assert prepared_check.check(tmp_path / "out").faults == []


def test_preparing_again_changes_nothing(tmp_path):
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  before = _digest(tmp_path / "out")
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  assert _digest(tmp_path / "out") == before
  assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_precomputed_arrays_bring_their_regions(tmp_path):
  make_sources.write_precomp(tmp_path / "raw")
  config = prepare.PrepareConfig("scan_precomp", source=str(tmp_path / "raw"))
  data = prepare.prepare(config, tmp_path / "out", workers=1)
  assert data.splits == ("train", "val") and not data.has_boxes
  stored = np.load(tmp_path / "raw" / "dev_ims.npy")
  np.testing.assert_array_equal(data.split("val").record(1).regions.features, stored[1])


def test_small_datasets_do_not_wait_for_processes(monkeypatch):
  monkeypatch.setattr(os, "cpu_count", lambda: 8)
  assert prepare.enough_workers({"train": ["1"] * 400, "val": ["2"] * 99}) == 1
  assert prepare.enough_workers({"train": ["1"] * 900, "val": ["2"] * 100}) == 3
  assert prepare.enough_workers({"train": ["1"] * 29_000}) == 8


def test_limits_are_kept(tmp_path):
  data = prepare.prepare(
    _config(max_images=2, max_regions=3, splits=("train",)), tmp_path / "out", workers=1
  )
  assert data.splits == ("train",) and len(data.split("train")) == 2 and data.max_regions == 3


def test_the_command_makes_the_same_configuration():
  config = _config(
    source="some where", splits=("train", "val"), noisy=simulated_detector.NoisyConfig(noise=0.25)
  )
  config = dataclasses.replace(config, scenes=dataclasses.replace(config.scenes, video=True))
  words = shlex.split(prepare.command(config))
  assert words[:3] == ["python", "-m", "trainers.prepare_data"]
  assert "--source=some where" in words and "--splits=train,val" in words
  changes = [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
  assert "noisy.noise=0.25" in changes and "scenes.train=7" in changes
  assert "scenes.video=true" in changes
  again = configs.override(prepare.PrepareConfig("scenes"), changes)
  assert again.scenes == config.scenes and again.noisy == config.noisy


def test_a_failure_leaves_what_was_there(tmp_path):
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  before = _digest(tmp_path / "out")
  ids = make_sources.write_karpathy(tmp_path / "raw", {"train": 3})
  make_sources.write_store(tmp_path / "regions", ids[:2])
  config = prepare.PrepareConfig(
    "karpathy", source=str(tmp_path / "raw"), regions=str(tmp_path / "regions")
  )
  with pytest.raises(errors.UserError, match="no regions of picture 102"):
    prepare.prepare(config, tmp_path / "out", workers=1)
  assert _digest(tmp_path / "out") == before
  assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "raw", "regions"]


PROGRAM = """
import sys
from gcap_tf.data.prepared import prepare
from gcap_tf.data.scenes import drawn_scenes
if __name__ == "__main__":
  config = prepare.PrepareConfig("scenes", scenes=drawn_scenes.SceneConfig(9000, 10, 0))
  prepare.prepare(config, sys.argv[1], workers=2)
"""


def test_a_killed_run_leaves_nothing_that_looks_whole_and_the_next_cleans_up(tmp_path):
  # A pipe that the workers inherit: it closes when the last of them has ended.
  alive, inherited = os.pipe()
  running = subprocess.Popen(
    [sys.executable, "-c", PROGRAM, str(tmp_path / "out")],
    stdout=inherited,
    stderr=subprocess.DEVNULL,
  )
  os.close(inherited)
  deadline = time.monotonic() + 60
  while not list(tmp_path.glob(".out.partial-*/*.tfrecord")) and time.monotonic() < deadline:
    time.sleep(0.05)
  running.send_signal(signal.SIGKILL)
  running.wait()
  assert select.select([alive], [], [], 30)[0], "workers outlive their parent"
  assert os.read(alive, 1) == b""
  os.close(alive)
  assert list(tmp_path.glob(".out.partial-*")) and not (tmp_path / "out").exists()
  with pytest.raises(errors.UserError, match="not a prepared folder"):
    prepared_data.PreparedData(tmp_path / "out")
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_work_of_a_living_process_is_left_alone(tmp_path):
  other = tmp_path / f".out.partial-{os.getppid()}"
  other.mkdir()
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  assert other.exists()


@pytest.mark.parametrize("name", ["photo.jpg", "dataset.json"])
def test_a_folder_of_other_things_is_not_replaced(tmp_path, name):
  (tmp_path / name).write_text("{}")
  with pytest.raises(errors.UserError, match="holds something other than prepared data"):
    prepare.prepare(_config(), tmp_path, workers=1)
  assert (tmp_path / name).exists()


def test_a_prepared_folder_with_a_foreign_file_is_not_replaced(tmp_path):
  prepare.prepare(_config(), tmp_path / "out", workers=1)
  (tmp_path / "out" / "notes.txt").write_text("mine")
  with pytest.raises(errors.UserError, match=r"not of prepared data \(notes\.txt\)"):
    prepare.prepare(_config(), tmp_path / "out", workers=1)


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"dataset": "karpathy"}, "give their folder as --source=DIR"),
    ({"dataset": "karpathy", "source": "/no/where"}, "--source=/no/where does not exist"),
    ({"regions": "/no/where"}, "region features /no/where do not exist"),
    ({"object_classes": "/no/where"}, "object classes /no/where does not exist"),
    ({"splits": ("dev",)}, 'no split "dev"'),
    ({"shards": 0}, "shards is 0"),
  ],
)
def test_what_cannot_be_prepared_is_refused(tmp_path, options, message):
  with pytest.raises(errors.UserError, match=message):
    prepare.prepare(_config(**options), tmp_path / "out", workers=1)
  assert not list(tmp_path.iterdir())


def test_flickr30k_entities_is_prepared_whole(tmp_path):
  folder = os.environ.get("GCAP_DATA")
  if not folder:
    pytest.skip("GCAP_DATA is not set: no Flickr30k Entities here")
  source = pathlib.Path(folder) / "flickr30k_entities"
  config = prepare.PrepareConfig(
    "flickr30k_entities",
    source=str(source),
    regions="noisy",
    max_images=70,
    object_classes=f"{folder}/flickr30k_class_name.txt",
  )
  data = prepare.prepare(config, tmp_path / "one", workers=1)
  prepare.prepare(config, tmp_path / "two", workers=2)
  assert _digest(tmp_path / "one") == _digest(tmp_path / "two")
  report = prepared_check.check(tmp_path / "one")
  assert report.faults == []
  train = report.splits["train"]
  assert train.pictures == 70 and train.captions == 350 and train.tagged == 350
  assert train.reachable / train.objects > 0.9
  classes = object_words.ObjectClasses.load(config.object_classes)
  assert data.object_classes == classes.names
  record = prepare.open_source(config, classes).record(data.split("train").image_ids[0], "train")
  stored = data.split("train").record(0)
  assert [c.tokens for c in stored.captions] == [c.tokens for c in record.captions]


def _videos(tmp_path, **options):
  make_videos.write(tmp_path / "raw")
  config = prepare.PrepareConfig("activitynet_entities", source=str(tmp_path / "raw"), **options)
  return prepare.prepare(config, tmp_path / "out", workers=1)


def test_references_of_videos_are_the_official_annotation(tmp_path):
  data = _videos(tmp_path, regions="none")
  expected = make_videos.annotation()["annotations"]
  found = files.read_json(data.references_path("train"))["annotations"]
  assert list(found) == ["v_aa", "v_bb"]
  for video, entry in found.items():
    assert entry["duration"] == expected[video]["duration"]
    for name, segment in entry["segments"].items():
      official = expected[video]["segments"][name]
      for key in ("tokens", "frame_ind", "process_bnd_box", "process_clss", "process_idx"):
        assert segment[key] == official[key]
      assert segment["timestamps"][0] == official["timestamps"][0]
  assert prepared_check.check(data.folder).faults == []


def test_segments_without_their_files_are_counted_and_named(tmp_path, caplog):
  store = make_videos.write_store(tmp_path / "store")
  (store / "fc6" / "v_aa_segment_00.npy").unlink()
  data = _videos(tmp_path, regions=str(store))
  assert len(data.split("train")) == 3 and data.frames == 10
  assert "1 of 4 segments of train are left out" in caplog.text
  assert "v_aa_segment_00.npy" in caplog.text
  record = data.split("train").record(1)
  assert record.image_id == "v_bb_segment_00"
  assert record.regions.span == (0, 2) and record.regions.grid_features.shape == (7, 6)
  assert prepared_check.check(data.folder).faults == []
