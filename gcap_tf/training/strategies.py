"""The devices that share a run's work, and which of them writes its files.

    one device                 TensorFlow's default strategy: the same step, nothing added
    several GPUs, or --replicas  MirroredStrategy: each device takes an equal part of a batch
    TF_CONFIG                  MultiWorkerMirroredStrategy: the same over all workers' devices

A CPU is split into logical devices if several replicas are wanted; so the code for many GPUs
is tested without one.
"""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib

import tensorflow as tf

from gcap_tf import errors

# A worker that does not answer for longer is lost.
LOST_AFTER_SECONDS = 600.0


@dataclasses.dataclass(frozen=True)
class Worker:
  """This process among those of a job.

  Attributes:
    index: 0-based; worker 0 writes the run folder.
    count: workers of the job.
  """

  index: int = 0
  count: int = 1

  @property
  def is_chief(self) -> bool:
    return self.index == 0


def make(replicas: int = 0) -> tf.distribute.Strategy:
  """The strategy of this process; called before TensorFlow runs anything.

  Args:
    replicas: devices that share a batch; 0 takes every GPU, or one CPU if there is none.
  """
  gpus = [device.name.removeprefix("/physical_device:") for device in _physical("GPU")]
  if worker_of_environment().count > 1:
    if replicas not in (0, max(len(gpus), 1)):
      raise errors.UserError(
        f"--replicas={replicas}: with TF_CONFIG every worker uses all of its devices "
        f"({max(len(gpus), 1)} here); leave --replicas out"
      )
    return _multi_worker()
  count = replicas or max(len(gpus), 1)
  if count == 1:
    return tf.distribute.get_strategy()
  if gpus:
    if count > len(gpus):
      raise errors.UserError(f"--replicas={count}: this machine has {len(gpus)} GPUs")
    return tf.distribute.MirroredStrategy(gpus[:count])
  return tf.distribute.MirroredStrategy(_logical_cpus(count))


@functools.cache  # A process joins its job once, even if it trains several runs.
def _multi_worker() -> tf.distribute.MultiWorkerMirroredStrategy:
  options = tf.distribute.experimental.CommunicationOptions(timeout_seconds=LOST_AFTER_SECONDS)
  return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def worker_of_environment() -> Worker:
  """Which worker of the job in TF_CONFIG this process is; the only one if it is unset."""
  text = os.environ.get("TF_CONFIG", "")
  if not text.strip():
    return Worker()
  try:
    content = json.loads(text)
    cluster, task = content["cluster"], content["task"]
    chiefs, workers = len(cluster.get("chief", [])), len(cluster.get("worker", []))
    index = int(task["index"]) + (chiefs if task["type"] == "worker" else 0)
  except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
    raise errors.UserError(
      f"TF_CONFIG cannot be read ({type(error).__name__}: {error}); expected "
      '{"cluster": {"worker": ["HOST:PORT", ...]}, "task": {"type": "worker", "index": 0}}'
    ) from None
  if task["type"] not in ("chief", "worker") or not 0 <= index < chiefs + workers:
    raise errors.UserError(
      f"TF_CONFIG: task {task['type']} {task['index']} is none of its {chiefs + workers} workers"
    )
  return Worker(index, chiefs + workers)


def worker(strategy: tf.distribute.Strategy) -> Worker:
  """Which worker of a strategy's job this process is."""
  if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
    return worker_of_environment()
  return Worker()


def check_agreement(strategy: tf.distribute.Strategy, step: int, folder: pathlib.Path) -> None:
  """Raises a `UserError` if workers would continue from different steps."""

  def sums(own: tf.Tensor) -> list[tf.Tensor]:
    replica = tf.distribute.get_replica_context()
    return replica.all_reduce(tf.distribute.ReduceOp.SUM, [own, own * own])

  own = tf.constant(float(step), tf.float64)
  results = tf.function(lambda: strategy.run(sums, args=(own,)), autograph=False)()
  first, second = (float(strategy.experimental_local_results(value)[0]) for value in results)
  count = strategy.num_replicas_in_sync
  if first != count * step or second != count * step**2:
    raise errors.UserError(
      f"workers found different checkpoints in {folder} (this one: step {step:,}); every worker "
      "must see the same run folder, on a shared disk"
    )


def _physical(kind: str) -> list[tf.config.PhysicalDevice]:
  return tf.config.list_physical_devices(kind)


def _logical_cpus(count: int) -> list[str]:
  """Names of `count` logical devices on the CPU; made if there are fewer."""
  cpu = _physical("CPU")[0]
  with contextlib.suppress(RuntimeError):  # TensorFlow has started already.
    devices = [tf.config.LogicalDeviceConfiguration()] * count
    tf.config.set_logical_device_configuration(cpu, devices)
  names = [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices("CPU")]
  if len(names) < count:
    raise errors.UserError(
      f"{count} replicas need {count} logical CPUs, and TensorFlow has started with {len(names)}; "
      "choose the strategy before anything else runs"
    )
  return names[:count]
