import json

import pytest

from gcap_tf import locks
from tests.trainers import command_line

SMALL = (
  "--dataset=scenes",
  "--regions=noisy",
  "--scenes_train=6",
  "--scenes_val=2",
  "--scenes_test=0",
  "--set=noisy.regions=5",
  "--set=noisy.feature_size=7",
  "--workers=1",
)


def _run(*words):
  return command_line.run("trainers.prepare_data", *words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  path = tmp_path_factory.mktemp("prepared") / "out"
  done = _run(*SMALL, f"--out={path}")
  assert done.returncode == 0, done.stderr
  assert "6 train, 2 val pictures; up to 5 regions, features of 7" in done.stdout
  return path


def test_flags_reach_the_folder(folder):
  info = json.loads((folder / "dataset.json").read_text())
  assert info["splits"]["train"]["pictures"] == 6 and list(info["splits"]) == ["train", "val"]
  assert info["feature_size"] == 7 and info["detector"]["regions"] == 5


def test_the_recorded_command_makes_the_folder_again(folder, tmp_path):
  info = json.loads((folder / "dataset.json").read_text())
  words = info["command"].split()[3:]
  assert _run(*words, f"--out={tmp_path / 'again'}", "--workers=1").returncode == 0
  for path in folder.iterdir():
    assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_check_reports_on_a_whole_folder(folder):
  done = _run("--check", f"--out={folder}")
  assert done.returncode == 0, done.stderr
  assert "within reach" in done.stdout and done.stdout.endswith("is whole\n")


def test_check_names_what_is_broken_and_fails(folder, tmp_path):
  broken = tmp_path / "broken"
  broken.mkdir()
  for path in folder.iterdir():
    (broken / path.name).write_bytes(path.read_bytes())
  shard = next(broken.glob("val-*.tfrecord"))
  content = bytearray(shard.read_bytes())
  content[100] ^= 1
  shard.write_bytes(content)
  done = _run("--check", f"--out={broken}")
  assert done.returncode == 1
  assert f"error: shard {shard}: record 0 at byte 0 is damaged" in done.stderr
  assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
  ("words", "message"),
  [
    ((), "--out is missing"),
    (("--out=/tmp/x",), "--dataset is missing: choose one of activitynet_entities, coco"),
    (("--out=/tmp/x", "--dataset=scene"), 'did you mean "scenes"?'),
    (("--out=/tmp/x", *SMALL, "--set=noisy.region=3"), 'unknown option "region"'),
    (
      ("--out=/tmp/x", "--dataset=scenes", "--scenes_train=-1"),
      "-1 is not a non-negative integer",
    ),
    (("--check", "--out=/no/where"), "is not a prepared folder"),
  ],
)
def test_mistakes_end_in_one_line(words, message):
  done = _run(*words)
  assert done.returncode == 1
  lines = done.stderr.strip().splitlines()
  assert len(lines) == 1 and lines[0].startswith("error: ") and message in lines[0]


def test_a_folder_that_another_program_writes_is_refused(tmp_path):
  with locks.hold(tmp_path / "out"):
    done = _run(*SMALL, f"--out={tmp_path / 'out'}")
  assert done.returncode == 1 and "being written by another program" in done.stderr
  assert not (tmp_path / "out").exists()
