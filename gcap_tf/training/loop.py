"""The one training loop: compiled step under a strategy, exact resume, honest stops.

The order of data, dropout and sampling is a pure function of (seed, step), so a run
that was killed and started again with the same command continues as if it had never
stopped. What must survive is in one checkpoint: model, optimiser, step, best score.
"""

import dataclasses
import json
import math
import pathlib
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files, progress
from gcap_tf.training import checkpoints, optimizers, schedules
from gcap_tf.training import trainer as trainers


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


class RunConfig(Protocol):
  """What every training configuration says about its loop."""

  epochs: int
  evaluate_every: int
  early_stop: int
  seed: int
  schedule: schedules.ScheduleConfig
  optimizer: optimizers.OptimizerConfig


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
  )


class Position(tf.Module):
  """Where a run is: part of every checkpoint."""

  def __init__(self):
    super().__init__(name="position")
    self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
    self.best = tf.Variable(-math.inf, dtype=tf.float64, trainable=False)
    self.since_best = tf.Variable(0, dtype=tf.int64, trainable=False)


Batches = Callable[[int], tf.data.Dataset]


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
    self.variables = [variable.value for variable in trainer.model.trainable_variables]
    with self.strategy.scope():
      self.optimizer = optimizers.Adam(config.optimizer, self.variables)
      self.position = Position()
    self.states = checkpoints.StepCheckpoints(folder / "checkpoints", config.keep)
    self.log = MetricsLog(folder / "metrics.jsonl")
    self.board = tf.summary.create_file_writer(str(folder / "tensorboard"))
    self.asked_to_stop = False

  def run(self) -> dict[str, float]:
    step = self.states.restore_newest(**self._tracked()) or self.config.start_step
    self.log.truncate_after(step)
    if step:
      print(f"Resuming {self.folder} at step {step:,} of {self.config.steps:,}")
    evaluation: dict[str, float] = {}
    with (
      self._stop_on_sigterm(),
      progress.bar(label=self.label, total=self.config.steps, unit="step") as bar,
    ):
      bar.update(step)
      stream = iter(self.strategy.experimental_distribute_dataset(self.batches(step)))
      epoch = -1
      while step < self.config.steps and not self._stalled():
        if step // self.config.steps_per_epoch != epoch:
          epoch = step // self.config.steps_per_epoch
          self.trainer.begin_epoch(epoch)
        values = self._run_step(step, stream)
        step += 1
        last = step == self.config.steps
        bar.update(1)
        if last or step % self.config.log_every == 0:
          self._record(step, values, bar)
        if last or (self.config.evaluate_every and step % self.config.evaluate_every == 0):
          evaluation = self._evaluate(step)
        if last or step % self.config.checkpoint_every == 0 or self.asked_to_stop:
          self._save(step)
        if self.asked_to_stop and not last:
          raise errors.UserError(
            f"stopped at step {step:,}; the same command continues from {self.states.path(step)}"
          )
    return {**evaluation, "best_score": float(self.position.best.numpy())}

  def _tracked(self) -> dict[str, Any]:
    return {"model": self.trainer.model, "optimizer": self.optimizer, "position": self.position}

  def _stalled(self) -> bool:
    return 0 < self.config.early_stop <= int(self.position.since_best.numpy())

  def _run_step(self, step: int, stream: Iterator[Any]) -> dict[str, tf.Tensor]:
    batch = next(stream)
    rate = schedules.learning_rate(
      self.config.schedule, step, self.config.steps, self.config.steps_per_epoch
    )
    values = self._compiled_step(
      batch, tf.constant([self.config.seed, step], tf.int32), tf.constant(rate, tf.float32)
    )
    if not math.isfinite(float(values["loss"])):
      self._stop_on_non_finite(step, batch, values)
    return values | {"learning_rate": rate}

  @tf.function(reduce_retracing=True)
  def _compiled_step(self, batch, seed, learning_rate):
    values = self.strategy.run(self._replica_step, args=(batch, seed, learning_rate))
    sums = {"gradient_norm": tf.distribute.ReduceOp.MEAN}
    return {
      name: self.strategy.reduce(sums.get(name, tf.distribute.ReduceOp.SUM), value, axis=None)
      for name, value in values.items()
    }

  def _replica_step(self, batch, seed, learning_rate):
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    seed = tf.random.experimental.stateless_fold_in(seed, replica)
    with tf.GradientTape() as tape:
      losses = self.trainer.losses(batch, seed)
      total = tf.add_n(list(losses.values()))
    gradients = tape.gradient(total, self.variables)
    norm = self.optimizer.apply(gradients, learning_rate)
    return {"loss": total, **losses, "gradient_norm": norm}

  def _record(self, step, values, bar):
    numbers = {name: float(value) for name, value in values.items()}
    self.log.append({"step": step, **numbers})
    with self.board.as_default(step=step):
      for name, value in numbers.items():
        tf.summary.scalar(f"training/{name}", value)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    bar.set_postfix_str(f"loss {numbers['loss']:.3f}, {memory:.1f} GiB")

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
    self.position.since_best.assign_add(1)
    if score > float(self.position.best.numpy()):
      self.position.best.assign(score)
      self.position.since_best.assign(0)
      checkpoints.save(checkpoints.best_path(self.folder), model=self.trainer.model)
    return evaluation

  def _save(self, step: int) -> None:
    self.position.step.assign(step)
    self.states.save(step, **self._tracked())

  def _stop_on_non_finite(self, step, batch, values):
    ids = {
      key: [item.decode() for item in np.ravel(batch[key].numpy())]
      for key in ("image_id", "caption_id")
      if isinstance(batch.get(key), tf.Tensor)
    }
    path = self.folder / f"non_finite_step_{step}.json"
    losses = {name: str(float(value)) for name, value in values.items()}
    files.write_json(path, {"step": step, "values": losses, **ids})
    bad = [name for name, value in losses.items() if value in ("nan", "inf", "-inf")]
    raise errors.UserError(
      f"step {step}: {', '.join(bad)} is not finite; the batch's ids are in {path}. "
      "Check those records with prepare_data --check, or lower the learning rate"
    )

  def _stop_on_sigterm(self):
    return _SigtermFlag(self)


class _SigtermFlag:
  """Turns SIGTERM into a request to save and leave after the current step."""

  def __init__(self, loop: _Loop):
    self.loop = loop

  def __enter__(self):
    try:
      self.previous = signal.signal(signal.SIGTERM, self._ask)
    except ValueError:  # Not the main thread: signals stay with whoever owns it.
      self.previous = None

  def _ask(self, *_):
    self.loop.asked_to_stop = True

  def __exit__(self, *_):
    if self.previous is not None:
      signal.signal(signal.SIGTERM, self.previous)


class MetricsLog:
  """`metrics.jsonl`: one object a line, no clock times, so equal runs give equal files."""

  def __init__(self, path: pathlib.Path):
    self.path = path

  def append(self, values: dict[str, float]) -> None:
    with self.path.open("a", encoding="utf-8") as file:
      file.write(json.dumps(values) + "\n")

  def truncate_after(self, step: int) -> None:
    """Drops lines that a killed run wrote after its last checkpoint."""
    if not self.path.exists():
      return
    kept = []
    for line in self.path.read_text(encoding="utf-8").splitlines():
      try:
        if json.loads(line)["step"] <= step:
          kept.append(line + "\n")
      except (json.JSONDecodeError, KeyError):
        break
    files.write_text(self.path, "".join(kept))
