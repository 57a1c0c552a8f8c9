"""The heads of SGRAF against the paper's equations, node by node."""

import numpy as np
import tensorflow as tf

from gcap_tf.matchers import sgraf_heads

RANDOM = np.random.default_rng(0)
NODES = tf.constant(RANDOM.normal(size=(2, 3, 5, 4)), tf.float32)
MASK = tf.constant([[True] * 5, [True] * 4 + [False], [True, True, False, False, False]])


def test_reasoning_equals_the_printed_update_of_every_node():
  head = sgraf_heads.Reasoning(4, 3)
  for step in head.steps:
    step.query.bias.assign(RANDOM.normal(size=4))
    step.update.bias.assign(RANDOM.normal(size=4))
  out = head(NODES, MASK).numpy()
  for i in range(2):
    for c in range(3):
      x = NODES[i, c].numpy()[MASK[c].numpy()]
      for step in head.steps:
        q = x @ step.query.kernel.numpy() + step.query.bias.numpy()
        k = x @ step.key_kernel.numpy() + RANDOM.normal(size=4)  # Any key bias will do.
        edges = np.exp(q @ k.T)
        edges /= edges.sum(1, keepdims=True)
        x = np.maximum(0, (edges @ x) @ step.update.kernel.numpy() + step.update.bias.numpy())
      np.testing.assert_allclose(out[i, c], x[0], rtol=1e-3, atol=1e-4)


def test_filtration_equals_a_loop_over_nodes():
  head = sgraf_heads.Filtration(4)
  head.norm.moving_mean.assign([0.3])
  head.norm.moving_variance.assign([2.0])
  out = head(NODES, MASK).numpy()
  for i in range(2):
    for c in range(3):
      x = NODES[i, c].numpy()[MASK[c].numpy()]
      h = (x @ head.kernel.numpy() - 0.3) / np.sqrt(2 + 1e-5)
      beta = 1 / (1 + np.exp(-h))
      z = (beta / beta.sum()) @ x
      np.testing.assert_allclose(out[i, c], z / np.linalg.norm(z), atol=1e-5)
