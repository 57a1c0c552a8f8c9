"""Tests of gcap_tf/runs/packed_manifest.py."""

import pytest

from gcap_tf import errors
from gcap_tf.runs import packed_manifest, packed_run, run_folders
from tests.export import tiny_runs

NAMES = ["config.json", "vocabulary.json", "weights.npz", "manifest.json", "word_classes.json"]


@pytest.fixture(name="packed")
def packed_run_folder(tmp_path):
  tiny_runs.trained_run(tmp_path / "run")
  (tmp_path / ".out.partial-7").mkdir()  # of a program that was killed
  packed_run.pack(tmp_path / "run", tmp_path / "out")
  return tmp_path / "out"


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_is_refused(packed, name):
  content = bytearray((packed / name).read_bytes())
  place = content.find(b"1") if name == "config.json" else len(content) // 2
  content[place] ^= 1
  (packed / name).write_bytes(bytes(content))
  with pytest.raises(errors.UserError, match=r"damaged|not valid JSON|not a numpy"):
    run_folders.load(packed)


def test_nothing_is_left_next_to_a_packed_run(packed):
  assert {path.name for path in packed.parent.iterdir()} == {"run", "out"}


def test_a_missing_file_is_named_and_a_run_without_a_manifest_passes(packed):
  packed_manifest.check(packed)
  (packed / "weights.npz").rename(packed / "elsewhere")
  with pytest.raises(errors.UserError, match=r"weights\.npz is missing"):
    packed_manifest.check(packed)
  (packed / packed_manifest.NAME).unlink()
  packed_manifest.check(packed)


def test_files_that_are_added_later_count_once_they_are_listed(packed):
  added = packed / "calibration.json"
  added.write_text("{}")
  packed_manifest.check(packed)
  packed_manifest.add(added)
  packed_manifest.check(packed)
  added.write_text("[]")
  with pytest.raises(errors.UserError, match=r"calibration\.json is damaged"):
    packed_manifest.check(packed)


def test_other_runs_get_no_manifest(tmp_path):
  (tmp_path / "calibration.json").write_text("{}")
  packed_manifest.add(tmp_path / "calibration.json")
  assert [path.name for path in tmp_path.iterdir()] == ["calibration.json"]
