"""Mixed precision: half-size matrix products if the hardware has them.

TensorFlow's graph rewrite casts the products of a compiled step and leaves weights, sums,
losses and the optimiser in float32, so models need no change: float16 on a GPU (Volta and
later), bfloat16 on a CPU. A CPU may list bfloat16 and still end the process at the first
product (AMX that the system does not permit), so a child process tries one first.

float16 has few exponents: gradients are those of `scale * loss`, divided by the scale. The
scale is halved at a gradient that is not finite (that step is skipped) and doubled after
`GROWTH_STEPS` good steps.
"""

import signal
import subprocess
import sys

import tensorflow as tf

from gcap_tf import errors

FIRST_SCALE = 2.0**15
GROWTH_STEPS = 2000
_PROBE = """
import tensorflow as tf
x = tf.cast(tf.random.stateless_normal([64, 64], [1, 2]), tf.bfloat16)
print(bool(tf.reduce_all(tf.math.is_finite(tf.cast(x @ x, tf.float32)))))
"""


def enable() -> None:
  """Turns mixed precision on for every function compiled from now on, or refuses."""
  if tf.config.list_physical_devices("GPU"):
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    return
  fault = product_fault()
  if fault:
    raise errors.UserError(
      f"--mixed_precision: a bfloat16 product on this CPU {fault}; train in float32 (the default)"
    )
  tf.config.optimizer.set_experimental_options({"auto_mixed_precision_onednn_bfloat16": True})


def needs_loss_scale() -> bool:
  """Whether products are float16, that is, mixed precision is on and there is a GPU."""
  return bool(tf.config.optimizer.get_experimental_options().get("auto_mixed_precision"))


def product_fault(program: str = _PROBE) -> str | None:
  """The fault of a bfloat16 product on this CPU; None if it works.

  Args:
    program: Python code that multiplies and prints "True".
  """
  child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
  if child.returncode < 0:
    return f"ends the process ({signal.Signals(-child.returncode).name})"
  if child.returncode or child.stdout.strip() != "True":
    return "fails"
  return None


class LossScale(tf.Module):
  """A factor of the loss that adapts to the range of float16; part of every checkpoint."""

  def __init__(self, first: float = FIRST_SCALE, growth_steps: int = GROWTH_STEPS):
    super().__init__(name="loss_scale")
    self.growth_steps = growth_steps
    self.scale = tf.Variable(first, trainable=False)
    self.good_steps = tf.Variable(0, dtype=tf.int64, trainable=False)

  def next_values(self, finite: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Scale and count of good steps after a step whose gradients were `finite` or not."""
    good = tf.where(finite, self.good_steps + 1, tf.zeros_like(self.good_steps))
    grows = good >= self.growth_steps
    scale = tf.where(finite, tf.where(grows, 2.0 * self.scale, self.scale), 0.5 * self.scale)
    return tf.maximum(scale, 1.0), tf.where(grows, tf.zeros_like(good), good)
