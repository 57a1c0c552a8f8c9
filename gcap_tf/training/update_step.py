"""One update of a model: compiled once, shared by replicas, computed in parts, or skipped.

    for each part p of this replica's batch:  l_p = losses(p),  g += dl_p / dw
    g, l = sum over replicas of (g, l)
    if l and |g| are finite:  w = optimiser(w, clip(g))

So any number of replicas and parts gives the update of the whole batch, except for rounding
and for what parts cannot see of each other (replicas.py). Random numbers are keyed by
(seed, step, replica * parts + part): r replicas of p parts draw what one of r * p parts draws.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from gcap_tf.training import contract, optimizers, precision, replicas

# Keys that a step reports besides its losses.
LOSS, NORM, FINITE, STOP = "loss", "gradient_norm", "finite", "stop"


class UpdateStep:
  """The compiled step of a trainer under the current strategy.

  Args:
    trainer: model and losses.
    optimizer: over the model's trainable variables.
    accumulate: parts that a replica's batch is computed in.
    scale: scale of the loss, needed by float16.
  """

  def __init__(
    self,
    trainer: contract.Trainer,
    optimizer: optimizers.Adam,
    accumulate: int = 1,
    scale: precision.LossScale | None = None,
  ):
    self.trainer, self.optimizer = trainer, optimizer
    self.accumulate, self.scale = accumulate, scale
    self.strategy = tf.distribute.get_strategy()
    model = trainer.model
    self.variables = [weight.value for weight in model.trainable_variables]
    # Running statistics change while losses are computed; a skipped step restores them.
    self.statistics = [weight.value for weight in model.non_trainable_variables]

  @tf.function(autograph=False, reduce_retracing=True)
  def __call__(
    self, batch: Any, seed: tf.Tensor, learning_rate: tf.Tensor, stop: tf.Tensor
  ) -> dict[str, tf.Tensor]:
    """Updates the model; returns the losses and figures of the whole batch.

    Args:
      batch: a batch, or one part of it for each replica.
      seed: int32 [2], (run seed, step).
      learning_rate: scalar.
      stop: 1.0 if this worker was asked to stop; `stop` of the result counts them.
    """
    values = self.strategy.run(self._on_replica, args=(batch, seed, learning_rate, stop))
    return {
      name: self.strategy.experimental_local_results(value)[0] for name, value in values.items()
    }

  def _on_replica(self, batch, seed, learning_rate, stop):
    statistics = [tf.identity(variable) for variable in self.statistics]
    gradients, values = self._gradients(batch, seed)
    gradients, values = _add_replicas(gradients, {**values, STOP: stop})
    if self.scale is not None:
      gradients = [gradient / self.scale.scale for gradient in gradients]
    gradients, norm = optimizers.clip(gradients, self.optimizer.config)
    finite = tf.math.is_finite(values[LOSS]) & tf.math.is_finite(norm)
    self.optimizer.update(gradients, learning_rate, finite)
    replica = tf.distribute.get_replica_context()
    replica.merge_call(self._settle, args=(statistics, finite))
    return {**values, NORM: norm, FINITE: tf.cast(finite, tf.float32)}

  def _gradients(self, batch, seed) -> tuple[list[tf.Tensor], dict[str, tf.Tensor]]:
    """Sums over this replica's parts."""
    parts = self.accumulate
    first = tf.distribute.get_replica_context().replica_id_in_sync_group * parts
    if parts == 1:
      return self._of_part(batch, tf.random.experimental.stateless_fold_in(seed, first))
    totals = replicas.counted_everywhere(self.trainer.counted(batch))
    split = {name: tf.split(tensor, parts) for name, tensor in batch.items()}
    gradients, values = [], {}
    for number in range(parts):
      part = {name: tensors[number] for name, tensors in split.items()}
      # Each part waits for the one before; otherwise all would need their memory at once.
      with tf.control_dependencies(gradients):
        part = {name: tf.identity(tensor) for name, tensor in part.items()}
      own_seed = tf.random.experimental.stateless_fold_in(seed, first + number)
      with replicas.one_part_of(parts, totals):
        found, results = self._of_part(part, own_seed)
      gradients = [a + b for a, b in zip(gradients, found, strict=True)] if gradients else found
      values = {name: value + values.get(name, 0.0) for name, value in results.items()}
    return gradients, values

  def _of_part(self, batch, seed) -> tuple[list[tf.Tensor], dict[str, tf.Tensor]]:
    with tf.GradientTape() as tape:
      values = self.trainer.losses(batch, seed)
      reported = {name: values[name] for name in self.trainer.reported}
      losses = {name: value for name, value in values.items() if name not in reported}
      total = tf.add_n(list(losses.values()))
      minimised = total if self.scale is None else total * self.scale.scale
    gradients = optimizers.dense(tape.gradient(minimised, self.variables), self.variables)
    return gradients, {LOSS: total, **losses, **reported}

  def _settle(self, strategy, statistics, finite):
    """Restores running statistics after a skipped step; adapts the loss scale."""
    for variable, before in zip(self.statistics, statistics, strict=True):
      strategy.extended.update(variable, _restore_unless, args=(finite, before))
    if self.scale is not None:
      scale, good_steps = self.scale.next_values(strategy.experimental_local_results(finite)[0])
      strategy.extended.update(self.scale.scale, _assign, args=(scale,))
      strategy.extended.update(self.scale.good_steps, _assign, args=(good_steps,))


def _assign(variable: tf.Variable, value: tf.Tensor) -> None:
  variable.assign(value)


def _restore_unless(variable: tf.Variable, finite: tf.Tensor, before: tf.Tensor) -> None:
  tf.cond(finite, lambda: tf.no_op(), lambda: variable.assign(before).op)


def _add_replicas(
  gradients: Sequence[tf.Tensor], values: dict[str, tf.Tensor]
) -> tuple[list[tf.Tensor], dict[str, tf.Tensor]]:
  """Sums over replicas, in one exchange."""
  replica = tf.distribute.get_replica_context()
  if replica.num_replicas_in_sync == 1:
    return list(gradients), values
  packed = tf.stack(list(values.values()))
  *added, packed = replica.all_reduce(tf.distribute.ReduceOp.SUM, [*gradients, packed])
  return added, dict(zip(values, tf.unstack(packed), strict=True))
