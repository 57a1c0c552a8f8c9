"""The training loop of every method: compiled steps, exact resume, clear stops.

The order of data, dropout and sampling is a pure function of (seed, step), so a run
that was killed and started again with the same command continues as if it had never
stopped. One checkpoint holds what must survive: model, optimiser, step, best score.

With several workers (TF_CONFIG) all compute and validate alike; only worker 0 writes.
"""

import dataclasses
import math
import pathlib
import resource
import signal
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import commands, errors, files, progress
from gcap_tf.runs import checkpoints, run_logs, run_record
from gcap_tf.training import (
  batch_shares,
  computing,
  contract,
  faults,
  loop_options,
  optimizers,
  precision,
  profiling,
  schedules,
  strategies,
  update_step,
)


@dataclasses.dataclass(frozen=True)
class LoopConfig:
  """The loop of one run, in steps.

  Attributes:
    steps: total number of updates.
    steps_per_epoch: steps of a pass over the data.
    log_every: steps between two lines of the log.
    evaluate_every: steps between validations; 0 validates only at the end.
    checkpoint_every: steps between checkpoints.
    early_stop: validations without a better score before stopping; 0 never stops early.
    keep: number of training states that are kept.
    seed: seed of data order, dropout and sampling.
    start_step: first step, if another run did those before it.
    schedule: learning rate over time.
    optimizer: Adam and gradient clipping.
    compute: parts of a batch, tracing, and the policy for losses that are not finite.
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


def from_options(options: loop_options.LoopOptions, steps_per_epoch: int) -> LoopConfig:
  """The loop of a run; it saves, and by default validates, after every epoch.

  Args:
    options: of the run.
    steps_per_epoch: of the data.
  """
  steps = steps_per_epoch * options.epochs
  return LoopConfig(
    steps=min(steps, options.max_steps) if options.max_steps else steps,
    steps_per_epoch=steps_per_epoch,
    evaluate_every=options.evaluate_every or steps_per_epoch,
    checkpoint_every=steps_per_epoch,
    early_stop=options.early_stop,
    seed=options.seed,
    schedule=options.schedule,
    optimizer=options.optimizer,
    compute=options.compute,
  )


class Position(tf.Module):
  """The progress of a run; part of every checkpoint."""

  def __init__(self):
    super().__init__(name="position")
    self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
    self.best = tf.Variable(-math.inf, dtype=tf.float64, trainable=False)
    self.since_best = tf.Variable(0, dtype=tf.int64, trainable=False)
    self.skipped = tf.Variable(0, dtype=tf.int64, trainable=False)


Batches = batch_shares.Batches


def train(
  trainer: contract.Trainer,
  batches: Batches,
  config: LoopConfig,
  folder: files.PathLike,
  label: str = "training",
  record: run_record.Record | None = None,
) -> dict[str, float]:
  """Trains to `config.steps`; continues if the run folder has a checkpoint.

  Args:
    trainer: model and losses, made inside the current strategy's scope.
    batches: from a 0-based step to an endless dataset that begins with its batch.
    config: steps, schedule, optimiser.
    folder: the run folder.
    label: of the progress bar.
    record: the settings of the run, written when the checkpoint is restored.
  Returns:
    The figures of the last validation, and `best_score`.
  """
  return _Loop(trainer, batches, config, pathlib.Path(folder), label, record).run()


class _Loop:
  def __init__(self, trainer, batches, config, folder, label, record):
    self.trainer, self.batches, self.config = trainer, batches, config
    self.folder, self.label, self.record = folder, label, record
    self.strategy = tf.distribute.get_strategy()
    self.worker = strategies.worker(self.strategy)
    variables = [variable.value for variable in trainer.model.trainable_variables]
    with self.strategy.scope():
      self.optimizer = optimizers.Adam(config.optimizer, variables)
      self.position = Position()
      self.scale = precision.LossScale() if precision.needs_loss_scale() else None
    self.update = update_step.UpdateStep(
      trainer, self.optimizer, config.compute.accumulate, self.scale
    )
    self.states = checkpoints.StepCheckpoints(folder / "checkpoints", config.keep)
    self.log = run_logs.MetricsLog(folder / "metrics.jsonl", self.worker.is_chief)
    self.speed = run_logs.SpeedLog(folder / "speed.jsonl", self.worker.is_chief)
    self.board = tf.summary.create_noop_writer()
    self.stopping = False
    self.skipped_in_a_row = 0
    self.scores: list[float] = []

  def run(self) -> dict[str, float]:
    with faults.report_faults(self.folder, self._newest):
      step = self._resume()
      if self.worker.is_chief:
        self.board = tf.summary.create_file_writer(str(self.folder / "tensorboard"))
      with (
        faults.StopRequest() as self.request,
        faults.SlowReadMonitor() as self.reads,
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
      if self.record is not None:
        self.record.write(step)
      self.states.remove_leftovers()
      files.remove_leftovers(self.folder)
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
      with self.reads.waiting(step):
        return next(stream)
    except (errors.UserError, OSError, tf.errors.OpError):
      # The weights are good if data cannot be read: save what was learned so far.
      if step > self._newest():
        self._save(step)
      raise

  def _run_step(self, step: int, batch: Any) -> dict[str, float]:
    config = self.config
    rate = schedules.learning_rate(
      config.schedule, step, config.steps, config.steps_per_epoch, self.scores
    )
    with self.trace.step(step):
      results = self.update(
        batch,
        tf.constant([config.seed, step], tf.int32),
        tf.constant(rate, tf.float32),
        tf.constant(0.0 if self.request.signal is None else 1.0),
      )
      values = {name: float(value) for name, value in results.items()}
    # Workers must stop after the same step, so each announces its stop in the next step.
    any_stops = values.pop(update_step.STOP) > 0
    self.stopping = any_stops or (self.worker.count == 1 and self.request.signal is not None)
    if values.pop(update_step.FINITE):
      self.skipped_in_a_row = 0
    elif self.scale is None or not math.isfinite(values[update_step.LOSS]):
      self._on_non_finite(step, batch, values)
    return values | {"learning_rate": rate}

  def _on_non_finite(self, step: int, batch: Any, values: dict[str, float]) -> None:
    """After a step that was not applied: stops the run, or counts the step and continues."""
    path, bad = faults.save_batch_ids(self.folder, step, batch, values)
    self.skipped_in_a_row += 1
    message = f"step {step}: {bad} is not finite; the batch's ids are in {path}."
    if self.config.compute.on_nan == "stop":
      self._save(step)
      raise errors.UserError(
        f"{message} Check those records with {commands.command('prepare_data')} --check, "
        "lower the learning rate, or "
        "skip such steps with --on_nan=skip"
      )
    self.position.skipped.assign_add(1)
    if self.skipped_in_a_row == faults.MOST_SKIPPED_IN_A_ROW:
      raise errors.UserError(
        f"{message} {self.skipped_in_a_row} steps in a row were skipped; lower the learning rate"
      )
    print(f"{message} Skipped ({int(self.position.skipped.numpy())} so far)", file=sys.stderr)

  def _record(self, step, values, bar):
    if self.config.compute.on_nan == "skip":
      values = values | {"skipped_steps": int(self.position.skipped.numpy())}
    self.log.append({"step": step, **values})
    with self.board.as_default(step=step):
      for name, value in values.items():
        tf.summary.scalar(f"training/{name}", value)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    self.speed.append(step, self.reads.waited, memory)
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
    """After a signal: makes the best weights usable, and ends the program."""
    if not checkpoints.best_path(self.folder).exists():
      self._save_best()
    message = f"stopped at step {step:,}; the same command continues from {self.states.path(step)}"
    if self.request.signal is signal.SIGINT:
      print(message, file=sys.stderr)
      raise KeyboardInterrupt
    raise errors.UserError(message)
