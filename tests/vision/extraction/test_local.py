import os
import signal
import subprocess
import sys
import time

import pytest

from gcap_tf import errors
from gcap_tf.data.stores import extracted_store, store_formats
from gcap_tf.runs import detector_runs
from gcap_tf.vision import pictures
from gcap_tf.vision.extraction import local, region_extractor
from tests.vision import picture_files, small_detector

PROGRAM = """
import sys
from gcap_tf.runs import detector_runs
from gcap_tf.vision import pictures
from gcap_tf.vision.extraction import local, region_extractor
if __name__ == "__main__":
  run, folder, out, workers = sys.argv[1:]
  config = region_extractor.ExtractionConfig(detector=run, regions=4)
  local.extract(pictures.find(folder), out, config, detector_runs.load, int(workers))
"""


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory):
  return small_detector.write_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("pictures")
  for number in range(40):
    picture_files.photograph(60 + number, 80).save(folder / f"{number:02d}.png")
  (folder / "cut.jpg").write_bytes(picture_files.samples()["jpeg"][:500])
  (folder / "empty.png").write_bytes(b"")
  return folder


def _extract(folder, out, run, workers=1, **options):
  config = region_extractor.ExtractionConfig(detector=run, regions=4, **options)
  return local.extract(pictures.find(folder), out, config, detector_runs.load, workers)


def _contents(store):
  return {
    str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()
  }


def test_a_killed_extraction_goes_on_to_the_same_bytes(tmp_path, run, folder):
  killed, whole = tmp_path / "killed", tmp_path / "whole"
  running = subprocess.Popen([sys.executable, "-c", PROGRAM, run, folder, killed, "2"])
  deadline = time.monotonic() + 120
  while len(list(killed.glob("att/*.npz"))) < 3 and time.monotonic() < deadline:
    time.sleep(0.02)
  running.send_signal(signal.SIGKILL)
  running.wait()
  assert 0 < len(list(killed.glob("att/*.npz"))) < 40
  (killed / "att" / ".00.npz.partial-1").write_bytes(b"half")  # As a kill may leave it.
  resumed = _extract(folder, killed, run, workers=2)
  assert resumed.done == 40 and resumed.before > 0
  fresh = _extract(folder, whole, run, workers=1)
  assert _contents(killed) == _contents(whole)
  assert fresh.problems == resumed.problems and len(fresh.problems) == 2
  assert "cut.jpg" in fresh.problems[0] and "empty.png" in fresh.problems[1]
  assert len(store_formats.open_store(whole).ids()) == 40


def test_a_store_that_was_made_otherwise_is_left_alone(tmp_path):
  info = extracted_store.StoreInfo("a", 1, 0.0, 1, 1, 1, 1, {}, [], [], "x")
  local.check_info(tmp_path / "store", info)
  local.check_info(tmp_path / "store", info)
  other = extracted_store.StoreInfo("b", 1, 0.0, 1, 1, 1, 1, {}, [], [], "x")
  with pytest.raises(errors.UserError, match=r"made otherwise \(detector\)"):
    local.check_info(tmp_path / "store", other)
  (tmp_path / "notes.txt").write_text("mine")
  with pytest.raises(errors.UserError, match="something else"):
    local.check_info(tmp_path, info)


def test_a_detector_that_does_not_load_is_one_line(tmp_path, folder):
  with pytest.raises(errors.UserError, match="is not a run folder"):
    _extract(folder, tmp_path / "out", os.fspath(tmp_path / "nowhere"))
