"""The one training loop: compiled step under a strategy, exact resume, honest stops.

The order of data, dropout and sampling is a pure function of (seed, step), so a run
that was killed and started again with the same command continues as if it had never
stopped. What must survive is in one checkpoint: model, optimiser, step, best score.

With several workers (TF_CONFIG) all compute and judge alike; worker 0 alone writes.
"""

import dataclasses
import math
import pathlib
import resource
import signal
import sys
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files, progress
from gcap_tf.runs import checkpoints, run_logs
from gcap_tf.training import (
  batch_shares,
  computing,
  faults,
  optimizers,
  precision,
  profiling,
  schedules,
  strategies,
)
from gcap_tf.training import trainer as trainers
from gcap_tf.training import update_step as steps_


@dataclasses.dataclass(frozen=True)
class LoopConfig:
  """Attributes:
  steps: updates in all.
  steps_per_epoch: what `schedule.every` counts; filled in from the data.
  log_every, evaluate_every, checkpoint_every: in steps; 0 evaluates only at the end.
  early_stop: evaluations without a better score before stopping; 0 never stops early.
  keep: training states kept.
  seed: of data order, dropout and sampling.
  start_step: steps that another run did before this one began, counted as done.
  compute: in how many parts, whether traced, what a loss that is not finite does.
  """

  steps: int
  steps_per_epoch: int = 1
  log_every: int = 20
  evaluate_every: int = 0
  checkpoint_every: int = 500
  early_stop: int = 0
  keep: int = 3
  seed: int = 1
  start_step: int = 0
  schedule: schedules.ScheduleConfig = dataclasses.field(default_factory=schedules.ScheduleConfig)
  optimizer: optimizers.OptimizerConfig = dataclasses.field(
    default_factory=optimizers.OptimizerConfig
  )
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


class RunConfig(Protocol):
  """What every training configuration says about its loop."""

  epochs: int
  evaluate_every: int
  early_stop: int
  seed: int
  schedule: schedules.ScheduleConfig
  optimizer: optimizers.OptimizerConfig
  compute: computing.ComputeConfig


def of_run(config: RunConfig, steps_per_epoch: int, max_steps: int = 0) -> LoopConfig:
  """The loop of a training configuration; it is saved, and by default judged, every epoch.

  Args:
    config: of the run.
    steps_per_epoch: of the data.
    max_steps: ends the run sooner than its epochs would; 0 does not.
  """
  steps = steps_per_epoch * config.epochs
  return LoopConfig(
    steps=min(steps, max_steps) if max_steps else steps,
    steps_per_epoch=steps_per_epoch,
    evaluate_every=config.evaluate_every or steps_per_epoch,
    checkpoint_every=steps_per_epoch,
    early_stop=config.early_stop,
    seed=config.seed,
    schedule=config.schedule,
    optimizer=config.optimizer,
    compute=config.compute,
  )


class Position(tf.Module):
  """Where a run is: part of every checkpoint."""

  def __init__(self):
    super().__init__(name="position")
    self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
    self.best = tf.Variable(-math.inf, dtype=tf.float64, trainable=False)
    self.since_best = tf.Variable(0, dtype=tf.int64, trainable=False)
    self.skipped = tf.Variable(0, dtype=tf.int64, trainable=False)


Batches = batch_shares.Batches


def train(
  trainer: trainers.Trainer,
  batches: Batches,
  config: LoopConfig,
  folder: files.PathLike,
  label: str = "training",
) -> dict[str, float]:
  """Trains to `config.steps`, resuming from the run folder where it has a checkpoint.

  Args:
    trainer: model and losses, made inside the current strategy's scope.
    batches: from a 0-based step to an endless dataset that begins with its batch.
    config: steps, schedule, optimiser.
    folder: the run folder; config.json must be there already.
    label: of the progress bar.
  Returns:
    The last evaluation, with `best_score` beside it.
  """
  return _Loop(trainer, batches, config, pathlib.Path(folder), label).run()


class _Loop:
  def __init__(self, trainer, batches, config, folder, label):
    self.trainer, self.batches, self.config = trainer, batches, config
    self.folder, self.label = folder, label
    self.strategy = tf.distribute.get_strategy()
    self.worker = strategies.worker(self.strategy)
    variables = [variable.value for variable in trainer.model.trainable_variables]
    with self.strategy.scope():
      self.optimizer = optimizers.Adam(config.optimizer, variables)
      self.position = Position()
      self.scale = precision.LossScale() if precision.needs_loss_scale() else None
    self.update = steps_.UpdateStep(trainer, self.optimizer, config.compute.accumulate, self.scale)
    self.states = checkpoints.StepCheckpoints(folder / "checkpoints", config.keep)
    self.log = run_logs.MetricsLog(folder / "metrics.jsonl", self.worker.is_chief)
    self.speed = run_logs.SpeedLog(folder / "speed.jsonl", self.worker.is_chief)
    self.board = tf.summary.create_noop_writer()
    if self.worker.is_chief:
      self.board = tf.summary.create_file_writer(str(folder / "tensorboard"))
    self.stopping = False
    self.skipped_in_a_row = 0
    self.scores: list[float] = []

  def run(self) -> dict[str, float]:
    with faults.told_plainly(self.folder, self._newest):
      step = self._resume()
      with (
        faults.StopRequest() as self.request,
        faults.Patience() as self.patience,
        profiling.trace(self.config.compute.profile, self.folder / "tensorboard") as self.trace,
        progress.bar(label=self.label, total=self.config.steps, unit="step") as bar,
      ):
        bar.update(step)
        evaluation = self._train_from(step, bar)
    return {**evaluation, "best_score": float(self.position.best.numpy())}

  def _resume(self) -> int:
    step = self.states.restore_newest(**self._tracked()) or self.config.start_step
    if self.worker.count > 1:
      strategies.check_agreement(self.strategy, step, self.folder)
    if self.worker.is_chief:
      self.states.remove_leftovers()
      self.log.truncate_after(step)
    self.scores = self.log.values(f"val_{self.trainer.best_metric}", step)
    if step:
      print(f"Resuming {self.folder} at step {step:,} of {self.config.steps:,}")
    return step

  def _train_from(self, step: int, bar) -> dict[str, float]:
    config, evaluation = self.config, {}
    stream = batch_shares.iterate(self.batches, step, self.strategy, config.compute.accumulate)
    epoch = -1
    while step < config.steps and not self._stalled():
      if step // config.steps_per_epoch != epoch:
        epoch = step // config.steps_per_epoch
        self.trainer.begin_epoch(epoch)
      values = self._run_step(step, self._next_batch(step, stream))
      step += 1
      last = step == config.steps
      bar.update(1)
      if last or step % config.log_every == 0:
        self._record(step, values, bar)
      if last or (config.evaluate_every and step % config.evaluate_every == 0):
        evaluation = self._evaluate(step)
      if last or step % config.checkpoint_every == 0 or self.stopping or self._stalled():
        self._save(step)
      if self.stopping and not last:
        self._leave(step)
    return evaluation

  def _tracked(self) -> dict[str, Any]:
    tracked = {"model": self.trainer.model, "optimizer": self.optimizer, "position": self.position}
    return tracked if self.scale is None else {**tracked, "loss_scale": self.scale}

  def _newest(self) -> int:
    return max(self.states.steps(), default=0)

  def _stalled(self) -> bool:
    return 0 < self.config.early_stop <= int(self.position.since_best.numpy())

  def _next_batch(self, step: int, stream) -> Any:
    try:
      with self.patience.waiting(step):
        return next(stream)
    except (errors.UserError, OSError, tf.errors.OpError):
      # Data that cannot be read harms no weight: what was learned up to here is kept.
      if step > self._newest():
        self._save(step)
      raise

  def _run_step(self, step: int, batch: Any) -> dict[str, float]:
    config = self.config
    rate = schedules.learning_rate(
      config.schedule, step, config.steps, config.steps_per_epoch, self.scores
    )
    with self.trace.step(step):
      told = self.update(
        batch,
        tf.constant([config.seed, step], tf.int32),
        tf.constant(rate, tf.float32),
        tf.constant(0.0 if self.request.signal is None else 1.0),
      )
      values = {name: float(value) for name, value in told.items()}
    # Workers must stop after the same step: each tells the others in the step that follows.
    told_by_any = values.pop(steps_.STOP) > 0
    self.stopping = told_by_any or (self.worker.count == 1 and self.request.signal is not None)
    if values.pop(steps_.FINITE):
      self.skipped_in_a_row = 0
    elif self.scale is None or not math.isfinite(values[steps_.LOSS]):
      self._on_non_finite(step, batch, values)
    return values | {"learning_rate": rate}

  def _on_non_finite(self, step: int, batch: Any, values: dict[str, float]) -> None:
    """The step was not applied: stops the run, or counts it and goes on."""
    path, bad = faults.save_batch_ids(self.folder, step, batch, values)
    self.skipped_in_a_row += 1
    told = f"step {step}: {bad} is not finite; the batch's ids are in {path}."
    if self.config.compute.on_nan == "stop":
      self._save(step)
      raise errors.UserError(
        f"{told} Check those records with prepare_data --check, lower the learning rate, or pass "
        "over such steps with --on_nan=skip"
      )
    self.position.skipped.assign_add(1)
    if self.skipped_in_a_row == faults.MOST_SKIPPED_IN_A_ROW:
      raise errors.UserError(
        f"{told} {self.skipped_in_a_row} steps in a row were passed over; lower the learning rate"
      )
    print(f"{told} Passed over ({int(self.position.skipped.numpy())} so far)", file=sys.stderr)

  def _record(self, step, values, bar):
    if self.config.compute.on_nan == "skip":
      values = values | {"skipped_steps": int(self.position.skipped.numpy())}
    self.log.append({"step": step, **values})
    with self.board.as_default(step=step):
      for name, value in values.items():
        tf.summary.scalar(f"training/{name}", value)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    self.speed.append(step, self.patience.waited, memory)
    shown = [f"loss {values['loss']:.3f}", f"{memory:.1f} GiB"]
    if "reward_sample" in values:
      shown.insert(1, f"reward {values['reward_sample']:.3f}")
    bar.set_postfix_str(", ".join(shown))

  def _evaluate(self, step: int) -> dict[str, float]:
    evaluation = self.trainer.evaluate()
    score = evaluation.get(self.trainer.best_metric, float(step))
    if evaluation:
      self.log.append({"step": step, **{f"val_{k}": v for k, v in evaluation.items()}})
      with self.board.as_default(step=step):
        for name, value in evaluation.items():
          tf.summary.scalar(f"validation/{name}", value)
        for name, picture in self.trainer.pictures().items():
          tf.summary.image(name, np.asarray(picture)[np.newaxis])
        for name, text in self.trainer.texts().items():
          tf.summary.text(name, text)
      self.board.flush()
    self.scores.append(score)
    self.position.since_best.assign_add(1)
    if score > float(self.position.best.numpy()):
      self.position.best.assign(score)
      self.position.since_best.assign(0)
      self._save_best()
    return evaluation

  def _save_best(self) -> None:
    if self.worker.is_chief:
      checkpoints.save(checkpoints.best_path(self.folder), model=self.trainer.model)

  def _save(self, step: int) -> None:
    self.position.step.assign(step)
    if self.worker.is_chief:
      self.states.save(step, **self._tracked())

  def _leave(self, step: int) -> None:
    """After a signal: the run can go on, and what it has learned can be used."""
    if not checkpoints.best_path(self.folder).exists():
      self._save_best()
    told = f"stopped at step {step:,}; the same command continues from {self.states.path(step)}"
    if self.request.signal is signal.SIGINT:
      print(told, file=sys.stderr)
      raise KeyboardInterrupt
    raise errors.UserError(told)
