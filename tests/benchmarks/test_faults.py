"""Tests of benchmarks/faults.py: the short form of the kills."""

import json
import subprocess
import sys

from benchmarks import faults


def test_a_matcher_that_was_killed_ends_with_the_same_bits(tmp_path):
  command = [sys.executable, "-m", "benchmarks.faults", "--programs=matcher", "--kills=3"]
  command += [f"--work={tmp_path / 'work'}", f"--counts={tmp_path / 'counts.json'}"]
  done = subprocess.run(command, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr[-2000:]
  found = json.loads(done.stdout.splitlines()[-1])["matcher"]
  assert found["kills"] == 3 and found["same_bits"]
  counts = json.loads((tmp_path / "counts.json").read_text())["cases"]["matcher"]
  assert counts["kills"] == 3 and counts["same_bits"] == counts["any_moment"] == 1


def test_a_hidden_folder_of_a_checkpoint_is_a_save(tmp_path):
  assert not faults.is_saving(tmp_path)
  (tmp_path / "checkpoints" / ".step-00000012.partial-7").mkdir(parents=True)
  assert faults.is_saving(tmp_path) and faults.newest(tmp_path) == 0
