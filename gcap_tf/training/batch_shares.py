"""Gives every replica its part of every batch.

The batch of a step does not depend on the number of replicas that share it: replica r of n
takes the r-th of n equal runs of its rows. Pictures I and captions B = I * n are cut alike,
as captions are picture-major.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import strategies


class Batches(Protocol):
  """From a 0-based step to an endless dataset that begins with its batch."""

  def __call__(self, start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    """`worker` (number, count) selects one of equal parts of every batch."""


def iterate(
  batches: Batches, step: int, strategy: tf.distribute.Strategy, accumulate: int = 1
) -> Iterator[Any]:
  """Batches from `step` on, each in the form that `strategy.run` takes.

  Args:
    batches: of the run; with one worker it is called with the step only.
    step: 0-based.
    strategy: the replicas that share a batch.
    accumulate: parts that each replica will cut its own part into.
  """
  worker = strategies.worker(strategy)
  local = strategy.num_replicas_in_sync // worker.count
  shares = strategy.num_replicas_in_sync * accumulate

  def of_worker(_: tf.distribute.InputContext | None = None) -> tf.data.Dataset:
    dataset = batches(step, (worker.index, worker.count)) if worker.count > 1 else batches(step)
    _check_rows(dataset.element_spec, shares // worker.count, shares)
    return dataset if local == 1 else dataset.flat_map(lambda batch: cut(batch, local))

  if strategy.num_replicas_in_sync == 1:
    return iter(of_worker())
  # Ids are strings, which a GPU cannot hold: a replica fetches only what it computes with.
  options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
  return iter(strategy.distribute_datasets_from_function(of_worker, options))


def cut(batch: dict[str, tf.Tensor], count: int) -> tf.data.Dataset:
  """`count` batches of equal runs of rows."""

  def runs(tensor: tf.Tensor) -> tf.Tensor:
    rows = None if tensor.shape[0] is None else tensor.shape[0] // count
    shape = tf.concat([[count, tf.shape(tensor)[0] // count], tf.shape(tensor)[1:]], 0)
    return tf.ensure_shape(tf.reshape(tensor, shape), [count, rows, *tensor.shape[1:]])

  return tf.data.Dataset.from_tensor_slices({name: runs(t) for name, t in batch.items()})


def _check_rows(specs: dict[str, tf.TensorSpec], parts: int, shares: int) -> None:
  for name, spec in specs.items():
    rows = spec.shape[0] if spec.shape.rank else None
    if parts > 1 and rows is not None and rows % parts:
      raise errors.UserError(
        f"a batch with {rows * shares // parts} rows of {name} cannot be cut into {shares} equal "
        f"parts (replicas times --accumulate); make the batch a multiple of {shares}"
      )
