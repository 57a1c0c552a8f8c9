"""Tests of gcap_tf/training/loop.py with a small real model."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import dropout
from gcap_tf.runs import checkpoints
from gcap_tf.training import computing, contract, loop, optimizers, schedules, update_step


class Regression(contract.Trainer):
  """Fits y = x w with dropout, so that a resumed run must repeat its noise."""

  best_metric = "score"

  def __init__(self, poison_at: int = -1):
    keras.utils.set_random_seed(3)
    self.model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    self.model(tf.zeros([1, 3]))
    self.poison_at = poison_at

  def losses(self, batch, seed):
    x = dropout.dropout(batch["x"], 0.2, seed, salt=1)
    error = self.model(x) - batch["y"]
    poison = tf.where(batch["step"] == self.poison_at, np.nan, 0.0)
    return {"squared": tf.reduce_mean(tf.square(error)) + poison}

  def evaluate(self):
    return {"score": -float(tf.reduce_sum(tf.abs(self.model(tf.ones([1, 3])))))}


def batches(start: int) -> tf.data.Dataset:
  def one(step):
    x = tf.random.stateless_normal([8, 3], tf.stack([step, 7]))
    return {
      "x": x,
      "y": tf.reduce_sum(x, 1, keepdims=True),
      "step": tf.cast(step, tf.int32),
      "image_id": tf.fill([8], tf.strings.as_string(step)),
    }

  return tf.data.Dataset.range(start, 1 << 40).map(one)


def config(steps: int, **options) -> loop.LoopConfig:
  return loop.LoopConfig(
    steps=steps,
    log_every=1,
    checkpoint_every=options.pop("checkpoint_every", 4),
    schedule=schedules.ScheduleConfig(kind="cosine", learning_rate=0.05),
    **options,
  )


def weights(run: pathlib.Path) -> list[np.ndarray]:
  model = Regression().model
  newest = checkpoints.StepCheckpoints(run / "checkpoints").restore_newest(model=model)
  assert newest
  return [variable.numpy() for variable in model.variables]


def train_here(folder: pathlib.Path, steps: int, **options):
  folder.mkdir(exist_ok=True)
  return loop.train(Regression(), batches, config(steps, **options), folder)


def test_the_loss_falls_and_every_step_is_logged(tmp_path):
  train_here(tmp_path, 30)
  lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
  losses = [line["loss"] for line in lines if "loss" in line]
  assert len(losses) == 30
  assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
  assert lines[-1]["val_score"] <= 0.0


def test_the_best_weights_are_those_of_the_best_evaluation(tmp_path):
  result = train_here(tmp_path, 8, evaluate_every=1)
  best = Regression()
  checkpoints.restore(checkpoints.best_path(tmp_path), model=best.model)
  assert best.evaluate()["score"] == pytest.approx(result["best_score"])


def test_early_stop_ends_after_evaluations_without_a_better_score(tmp_path):
  stuck = Regression()
  stuck.evaluate = lambda: {"score": 1.0}
  loop.train(stuck, batches, config(50, evaluate_every=1, early_stop=3), tmp_path)
  steps = [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").open()]
  assert max(steps) == 4  # One best evaluation, then three without a better one.


def test_a_loss_that_is_not_a_number_stops_the_run_and_keeps_the_ids(tmp_path):
  with pytest.raises(errors.UserError, match="step 5: loss, squared is not finite"):
    loop.train(Regression(poison_at=5), batches, config(10), tmp_path)
  saved = json.loads((tmp_path / "non_finite_step_5.json").read_text())
  assert saved["image_id"] == ["5"] * 8
  assert checkpoints.StepCheckpoints(tmp_path / "checkpoints").steps() == [4, 5]
  assert all(np.isfinite(weight).all() for weight in weights(tmp_path))


def test_a_step_that_is_passed_over_leaves_no_trace_but_its_count(tmp_path):
  skipping = config(10, compute=computing.ComputeConfig(on_nan="skip"))
  loop.train(Regression(poison_at=5), batches, skipping, tmp_path)
  lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").open()]
  assert [line["skipped_steps"] for line in lines if "loss" in line] == [0] * 5 + [1] * 5
  assert lines[5]["loss"] is None
  clean = Regression()
  adam = optimizers.Adam(skipping.optimizer, [v.value for v in clean.model.trainable_variables])
  update = update_step.UpdateStep(clean, adam)
  for number, batch in enumerate(batches(0).take(10)):
    rate = schedules.learning_rate(skipping.schedule, number, 10, 1)
    if number != 5:
      update(batch, tf.constant([1, number]), tf.constant(rate, tf.float32), tf.constant(0.0))
  for kept, expected in zip(weights(tmp_path), clean.model.get_weights(), strict=True):
    np.testing.assert_array_equal(kept, expected)


def test_too_many_bad_steps_in_a_row_end_the_run(tmp_path):
  broken = Regression()
  broken.losses = lambda batch, seed: {"squared": tf.reduce_sum(broken.model.weights[0]) * np.nan}
  skipping = config(100, compute=computing.ComputeConfig(on_nan="skip"))
  with pytest.raises(errors.UserError, match="20 steps in a row"):
    loop.train(broken, batches, skipping, tmp_path)


class Interrupted(Regression):
  def begin_epoch(self, epoch):
    if epoch == 3:
      signal.raise_signal(signal.SIGINT)


def test_ctrl_c_leaves_a_run_that_can_be_used_and_continued(tmp_path, capsys):
  with pytest.raises(KeyboardInterrupt):
    loop.train(Interrupted(), batches, config(10), tmp_path)
  assert "the same command continues from" in capsys.readouterr().err
  assert checkpoints.StepCheckpoints(tmp_path / "checkpoints").steps() == [4]
  checkpoints.restore(checkpoints.best_path(tmp_path), model=Regression().model)


def test_data_that_cannot_be_read_keeps_what_was_learned(tmp_path):
  def broken(start):
    good = batches(start).take(6)
    return good.concatenate(batches(6).map(lambda b: b | {"x": tf.io.parse_tensor("", tf.float32)}))

  with pytest.raises(tf.errors.OpError):
    loop.train(Regression(), broken, config(10), tmp_path)
  assert checkpoints.StepCheckpoints(tmp_path / "checkpoints").steps() == [4, 6]


def start_child(folder: pathlib.Path, steps: int) -> subprocess.Popen:
  program = (
    "import pathlib, sys; from tests.training import test_loop as t;"
    f"t.train_here(pathlib.Path({str(folder)!r}), {steps}, checkpoint_every=5)"
  )
  return subprocess.Popen(
    [sys.executable, "-c", program], stderr=subprocess.PIPE, env=dict(os.environ)
  )


def wait_for_step(folder: pathlib.Path, step: int, child: subprocess.Popen) -> None:
  deadline = time.monotonic() + 120
  while time.monotonic() < deadline and child.poll() is None:
    steps = checkpoints.StepCheckpoints(folder / "checkpoints").steps()
    if steps and steps[-1] >= step:
      return
    time.sleep(0.02)
  raise AssertionError(f"the child never reached step {step}: {child.stderr.read().decode()}")


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
  whole, killed = tmp_path / "whole", tmp_path / "killed"
  train_here(whole, 300, checkpoint_every=150)
  child = start_child(killed, 300)
  wait_for_step(killed, 10, child)
  child.send_signal(signal.SIGKILL)
  child.wait()
  assert checkpoints.StepCheckpoints(killed / "checkpoints").steps()[-1] < 300
  train_here(killed, 300, checkpoint_every=150)
  for a, b in zip(weights(whole), weights(killed), strict=True):
    np.testing.assert_array_equal(a, b)
  assert (whole / "metrics.jsonl").read_text() == (killed / "metrics.jsonl").read_text()


def test_what_a_killed_run_left_half_written_is_removed(tmp_path):
  for name in (".metrics.jsonl.partial-7", "checkpoints/.step-00000004.partial-7"):
    (tmp_path / "run" / name).mkdir(parents=True)
  train_here(tmp_path / "run", 4)
  assert not list((tmp_path / "run").rglob(".*"))


def test_sigterm_saves_the_current_step_and_leaves(tmp_path):
  child = start_child(tmp_path, 1_000_000)
  wait_for_step(tmp_path, 5, child)
  child.send_signal(signal.SIGTERM)
  _, error = child.communicate(timeout=60)
  assert b"the same command continues from" in error
  steps = [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").open()]
  assert checkpoints.StepCheckpoints(tmp_path / "checkpoints").steps()[-1] == steps[-1]
