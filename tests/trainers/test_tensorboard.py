"""Tests of trainers/tensorboard.py."""

# bazel: data = ["//trainers:tensorboard"]

import json
import re
import subprocess
import sys
import time
import urllib.request

import pytest
import tensorflow as tf

from gcap_tf import errors
from trainers import tensorboard


def test_one_command_opens_tensorboard_on_every_run(tmp_path):
  for name in ("one", "two"):
    writer = tf.summary.create_file_writer(str(tmp_path / name / "tensorboard"))
    with writer.as_default(step=1):
      tf.summary.scalar("training/loss", 2.0)
    writer.close()
  process = subprocess.Popen(
    [sys.executable, "-m", "trainers.tensorboard", f"--runs={tmp_path}", "--port=0"],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
  )
  try:
    said, match = "", None
    for line in process.stdout:
      said += line
      if match := re.search(r"http://127\.0\.0\.1:\d+/", line):
        break
    assert match, said
    assert runs_at(match[0]) == {"one/tensorboard", "two/tensorboard"}
  finally:
    process.terminate()
    process.communicate()


def runs_at(address):
  """The runs that TensorBoard has found, after it had time to read them."""
  end = time.monotonic() + 60
  while True:
    with urllib.request.urlopen(address + "data/runs", timeout=60) as answer:
      found = set(json.loads(answer.read()))
    if len(found) == 2 or time.monotonic() > end:
      return found
    time.sleep(0.2)


def test_folder_without_runs_is_a_clear_error(tmp_path):
  with pytest.raises(errors.UserError, match="holds nothing to show"):
    tensorboard.check_runs(tmp_path)
