"""Tests of gcap_tf/training/faults.py."""

import json
import os
import pathlib
import re
import signal
import time

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import faults


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_is_a_request(number):
  before = signal.getsignal(number)
  with faults.StopRequest() as request:
    assert request.signal is None
    signal.raise_signal(number)
    assert request.signal is number
  assert signal.getsignal(number) is before


def test_the_second_ctrl_c_leaves_at_once():
  with faults.StopRequest(), pytest.raises(KeyboardInterrupt):
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)


def test_slow_reads_are_reported_while_and_after_they_are_waited_for(capsys):
  began, said = time.monotonic(), ""
  with faults.SlowReadMonitor(seconds=0.1) as monitor:
    with monitor.waiting(7):
      while not said and time.monotonic() < began + 60:
        time.sleep(0.02)
        said = capsys.readouterr().err
    took = time.monotonic() - began
    assert "step 7: still waiting for data after 0.1 s" in said
    after = re.search(r"step 7: its data arrived after ([\d.]+) s", capsys.readouterr().err)
    assert 0.1 <= float(after[1]) <= took + 0.05  # It is rounded.
    time.sleep(0.2)
  assert capsys.readouterr().err == ""
  assert 0.1 <= monitor.waited <= took


def test_quick_reads_are_not_reported(capsys):
  with faults.SlowReadMonitor(seconds=30.0) as monitor, monitor.waiting(8):
    pass
  assert capsys.readouterr().err == ""
  assert monitor.waited < 30


def test_the_ids_of_a_bad_batch_are_saved_with_what_was_bad(tmp_path):
  batch = {"image_id": tf.constant(["a", "b"]), "features": tf.zeros([2, 1])}
  values = {"loss": np.nan, "ranking": np.nan, "gradient_norm": 1.0}
  path, bad = faults.save_batch_ids(tmp_path, 12, batch, values)
  assert bad == "loss, ranking"
  saved = json.loads(path.read_text())
  assert saved["step"] == 12 and saved["image_id"] == ["a", "b"]


def test_a_full_disk_is_one_line_that_says_where_the_run_stands():
  full = pathlib.Path("/dev/full")
  if not full.exists():
    pytest.skip("this system has no /dev/full")
  with (
    pytest.raises(errors.UserError, match="the disk is full; the run stands at step 1,200"),
    faults.report_faults(pathlib.Path("run"), lambda: 1200),
    full.open("w") as file,
  ):
    os.write(file.fileno(), b"x")
  with (
    pytest.raises(errors.UserError, match="the disk is full"),
    faults.report_faults(pathlib.Path("run"), lambda: 1200),
  ):
    tf.io.write_file("/dev/full", "x" * 100_000)


def test_other_faults_keep_their_own_words():
  with pytest.raises(FileNotFoundError), faults.report_faults(pathlib.Path("run"), lambda: 0):
    pathlib.Path("/no/such/file").read_text()
  with (
    pytest.raises(tf.errors.InvalidArgumentError),
    faults.report_faults(pathlib.Path("run"), lambda: 0),
  ):
    tf.io.parse_tensor("", tf.float32)
