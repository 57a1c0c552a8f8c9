"""A batch that is shared: by replicas at the same time, by parts one after the other.

Every replica, and every part of an accumulated batch, adds its own losses. So that the sum
is the loss of the whole batch, a mean is weighted by how much of it was counted here, and
rows are gathered where each is compared with all (hard negatives).

Replicas see each other's rows and counts. Parts do not: negatives are sought within a part,
and the counts of a whole batch must be known from the batch alone (`Trainer.counted`); where
they are not, as for captions drawn in the step, the parts count alike.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator, Mapping

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class _Parts:
  """Of how many parts this is one, and what the whole batch of all replicas counts."""

  count: int = 1
  totals: Mapping[str, tf.Tensor] = dataclasses.field(default_factory=dict)


_WHOLE = _Parts()
_parts = contextvars.ContextVar("parts", default=_WHOLE)


@contextlib.contextmanager
def one_part_of(count: int, totals: Mapping[str, tf.Tensor]) -> Iterator[None]:
  """Inside, losses are those of one of `count` parts of this replica's batch.

  Args:
    count: parts.
    totals: what `counted_everywhere` found for the whole batch, by name of the loss.
  """
  token = _parts.set(_Parts(count, totals))
  try:
    yield
  finally:
    _parts.reset(token)


def share(mean: tf.Tensor, counted: tf.Tensor, name: str = "") -> tf.Tensor:
  """What a mean here adds to the mean over all replicas and parts.

  Args:
    mean: over what is true in `counted`, on this replica and part.
    counted: bool, any shape.
    name: of the loss in `Trainer.counted`.
  """
  parts = _parts.get()
  total = parts.totals.get(name)
  if total is not None:
    return mean * tf.math.divide_no_nan(_count(counted), total)
  if _replica() is not None:
    mean *= tf.math.divide_no_nan(_count(counted), _everywhere(_count(counted)))
  return mean / parts.count if parts.count > 1 else mean


def counted_everywhere(counted: Mapping[str, tf.Tensor]) -> dict[str, tf.Tensor]:
  """How much is true in each mask on all replicas together: name -> float32 scalar."""
  counts = {name: _count(mask) for name, mask in sorted(counted.items())}
  return {name: _everywhere(count) for name, count in counts.items()}


def gather(rows: tf.Tensor) -> tf.Tensor:
  """Rows of all replicas, in their order; gradients go back to where a row came from."""
  replica = _replica()
  if replica is None:
    return rows
  # A tensor that came as it is into the step has no device yet, which all_gather asks for.
  numbers = tf.cast(rows, tf.int32) if rows.dtype == tf.bool else tf.identity(rows)
  gathered = tf.cast(replica.all_gather(numbers, axis=0), rows.dtype)
  # The gradient of reshape is dense; that of a gather, which follows, is not, and
  # all_gather cannot pass it on.
  gathered = tf.reshape(gathered, tf.concat([[-1], tf.shape(rows)[1:]], 0))
  return tf.ensure_shape(gathered, [None, *rows.shape[1:]])


def offset(rows: tf.Tensor) -> tf.Tensor:
  """Where this replica's rows begin among those of all replicas."""
  replica = _replica()
  if replica is None:
    return tf.zeros([], tf.int32)
  before = replica.all_gather(tf.shape(rows)[:1], axis=0)[: replica.replica_id_in_sync_group]
  return tf.reduce_sum(before)


def _replica() -> tf.distribute.ReplicaContext | None:
  replica = tf.distribute.get_replica_context()
  return replica if replica is not None and replica.num_replicas_in_sync > 1 else None


def _count(counted: tf.Tensor) -> tf.Tensor:
  return tf.reduce_sum(tf.cast(counted, tf.float32))


def _everywhere(count: tf.Tensor) -> tf.Tensor:
  replica = _replica()
  return count if replica is None else replica.all_reduce(tf.distribute.ReduceOp.SUM, count)
