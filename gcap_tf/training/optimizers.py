"""Adam as the published programs ran it, and gradient clipping over all replicas.

    m_t = b1 m_{t-1} + (1 - b1) g        v_t = b2 v_{t-1} + (1 - b2) g^2
    w_t = w_{t-1} - lr * (m_t / (1 - b1^t)) / (sqrt(v_t / (1 - b2^t)) + eps)

Keras' Adam adds eps before the bias correction, which matters if gradients are small;
Keras' `global_clipnorm` clips each replica on its own. Neither happens here: gradients are
summed over replicas first, then clipped, then applied densely (moments of unused embedding
rows decay too, as in PyTorch).
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
  """Adam and gradient clipping.

  Attributes:
    beta_1: decay of the first moment.
    beta_2: decay of the second moment.
    epsilon: eps of Adam.
    clip: "norm" scales all gradients jointly to `clip_at`; "value" clamps each
      element to +-`clip_at`.
    clip_at: limit of clipping.
    slow: endings of names ("classes/kernel") of weights with a lower rate.
    slow_factor: factor of the learning rate of those weights.
  """

  beta_1: configs.Fraction = 0.9
  beta_2: configs.Fraction = 0.999
  epsilon: configs.Positive = 1e-8
  clip: Literal["norm", "value", "none"] = "norm"
  clip_at: configs.Positive = 2.0
  slow: tuple[str, ...] = ()
  slow_factor: configs.Weight = 0.1


def rate_factors(config: OptimizerConfig, names: Sequence[str]) -> list[float]:
  """The factor of the learning rate for each weight, by its name in the model."""
  paths = [f"/{name.partition(':')[0]}" for name in names]
  for slow in config.slow:
    if not any(path.endswith(f"/{slow}") for path in paths):
      raise errors.UserError(
        f'optimizer.slow: no weight of this model has a name that ends with "{slow}"'
      )
  endings = tuple(f"/{slow}" for slow in config.slow)
  return [config.slow_factor if path.endswith(endings) else 1.0 for path in paths]


class Adam(tf.Module):
  """Adam over a fixed list of variables; its slots are part of every checkpoint."""

  def __init__(self, config: OptimizerConfig, variables: Sequence[tf.Variable]):
    super().__init__(name="adam")
    self.config = config
    self._targets = list(variables)
    self._factors = rate_factors(config, [variable.name for variable in self._targets])
    self.first = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self._targets]
    self.second = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self._targets]
    self.iterations = tf.Variable(0, dtype=tf.int64, trainable=False)

  def apply(self, gradients: Sequence[tf.Tensor | None], learning_rate: tf.Tensor) -> tf.Tensor:
    """Applies one update in replica context; returns the gradients' global norm.

    Gradients are this replica's share: they are summed over replicas here.
    """
    replica = tf.distribute.get_replica_context()
    gradients = dense(gradients, self._targets)
    if replica.num_replicas_in_sync > 1:
      gradients = replica.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
    gradients, norm = clip(gradients, self.config)
    self.update(gradients, learning_rate, tf.constant(True))
    return norm

  def update(
    self, gradients: Sequence[tf.Tensor], learning_rate: tf.Tensor, wanted: tf.Tensor
  ) -> None:
    """Applies gradients that are summed and clipped already; no change unless `wanted`.

    Args:
      gradients: one for each variable, the same on every replica.
      learning_rate: scalar.
      wanted: bool scalar, the same on every replica.
    """
    replica = tf.distribute.get_replica_context()
    replica.merge_call(self._update, args=(list(gradients), learning_rate, wanted))

  def _update(self, strategy, gradients, learning_rate, wanted):
    strategy.extended.update(
      self.iterations, lambda v, counts: v.assign_add(tf.cast(counts, v.dtype)), args=(wanted,)
    )
    for index, variable in enumerate(self._targets):
      rate = learning_rate * self._factors[index]
      strategy.extended.update(
        variable,
        self._update_if_wanted,
        args=(self.first[index], self.second[index], gradients[index], rate, wanted),
      )

  def _update_if_wanted(self, variable, first, second, gradient, learning_rate, wanted):
    def updated() -> tf.Operation:
      self._update_one(variable, first, second, gradient, learning_rate)
      return tf.no_op()

    tf.cond(wanted, updated, tf.no_op)

  def _update_one(self, variable, first, second, gradient, learning_rate):
    """In one pass over the weights; the fused op adds epsilon to sqrt(v), not to sqrt(v_hat)."""
    c = self.config
    t = tf.cast(self.iterations, tf.float32)
    beta_1_power, beta_2_power = tf.pow(c.beta_1, t), tf.pow(c.beta_2, t)
    tf.raw_ops.ResourceApplyAdam(
      var=variable.handle,
      m=first.handle,
      v=second.handle,
      beta1_power=beta_1_power,
      beta2_power=beta_2_power,
      lr=learning_rate,
      beta1=c.beta_1,
      beta2=c.beta_2,
      epsilon=c.epsilon * tf.sqrt(1.0 - beta_2_power),
      grad=gradient,
    )


def dense(
  gradients: Sequence[tf.Tensor | tf.IndexedSlices | None], variables: Sequence[tf.Variable]
) -> list[tf.Tensor]:
  """Gradients as dense tensors; zeros for variables without one."""
  return [
    tf.zeros_like(variable) if gradient is None else tf.convert_to_tensor(gradient)
    for gradient, variable in zip(gradients, variables, strict=True)
  ]


def clip(gradients: list[tf.Tensor], config: OptimizerConfig) -> tuple[list[tf.Tensor], tf.Tensor]:
  """Clipped gradients and their global norm before clipping."""
  norm = tf.linalg.global_norm(gradients)
  if config.clip == "norm":
    scale = tf.minimum(config.clip_at / (norm + 1e-6), 1.0)
    gradients = [gradient * scale for gradient in gradients]
  elif config.clip == "value":
    gradients = [tf.clip_by_value(g, -config.clip_at, config.clip_at) for g in gradients]
  return gradients, norm
