"""A batch that is shared: by replicas at the same time, by parts one after the other.

Every replica, and every part of an accumulated batch, adds its own losses. To make the sum
the loss of the whole batch, each mean is weighted by how much was counted here, and rows are
gathered if each is compared with all (hard negatives).

Replicas see each other's rows and counts. Parts do not: negatives come from the same part,
and the counts of a whole batch must be known from the batch alone (`Trainer.counted`); if
they are not, as for captions sampled in the step, all parts have the same weight.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator, Mapping

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class _Parts:
  """Number of parts of this batch, and totals over the whole batch of all replicas."""

  count: int = 1
  totals: Mapping[str, tf.Tensor] = dataclasses.field(default_factory=dict)


_WHOLE = _Parts()
_parts = contextvars.ContextVar("parts", default=_WHOLE)


@contextlib.contextmanager
def one_part_of(count: int, totals: Mapping[str, tf.Tensor]) -> Iterator[None]:
  """Inside, losses are those of one of `count` parts of this replica's batch.

  Args:
    count: parts.
    totals: result of `counted_everywhere` for the whole batch, by name of the loss.
  """
  token = _parts.set(_Parts(count, totals))
  try:
    yield
  finally:
    _parts.reset(token)


def share(mean: tf.Tensor, counted: tf.Tensor, name: str = "") -> tf.Tensor:
  """The contribution of a mean here to the mean over all replicas and parts.

  Args:
    mean: over the entries that are true in `counted`, on this replica and part.
    counted: bool, any shape.
    name: name of the loss in `Trainer.counted`.
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
  """Rows of all replicas, in their order; gradients go back to the replica of each row."""
  replica = _replica()
  if replica is None:
    return rows
  # An input of the step has no device yet, and all_gather needs one: hence the identity.
  numbers = tf.cast(rows, tf.int32) if rows.dtype == tf.bool else tf.identity(rows)
  gathered = tf.cast(replica.all_gather(numbers, axis=0), rows.dtype)
  # The gradient of reshape is dense; that of a gather, which follows, is sparse, and
  # all_gather cannot pass it on.
  gathered = tf.reshape(gathered, tf.concat([[-1], tf.shape(rows)[1:]], 0))
  return tf.ensure_shape(gathered, [None, *rows.shape[1:]])


def offset(rows: tf.Tensor) -> tf.Tensor:
  """Index of this replica's first row among the rows of all replicas."""
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
