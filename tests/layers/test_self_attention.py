"""Global vectors against loops."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import self_attention

X = tf.random.stateless_normal([2, 4, 3], seed=[1, 2])
MASK = tf.constant([[True] * 4, [True, True, False, False]])


@pytest.mark.parametrize("slots", [None, 4])
def test_evaluation_equals_a_loop_over_fragments(slots):
  layer = self_attention.SelfAttention(3, slots, 0.4, 1)
  if slots:
    layer.local_norm.moving_mean.assign([0.1, 0.2, 0.3, 0.4])
    layer.overall_norm.moving_variance.assign([2.0, 3.0, 4.0])
  out = layer(X, MASK).numpy()
  for n, length in enumerate((4, 2)):
    x = X[n, :length].numpy()
    local = x @ layer.local.kernel.numpy()
    overall = x.mean(0) @ layer.overall.kernel.numpy()
    if slots:
      local = (local - np.array([0.1, 0.2, 0.3, 0.4])[:length, None]) / np.sqrt(1 + 1e-5)
      overall = overall / np.sqrt(np.array([2.0, 3.0, 4.0]) + 1e-5)
    logits = (np.tanh(local) * np.tanh(overall)) @ layer.common.kernel.numpy()[:, 0]
    weights = np.exp(logits) / np.exp(logits).sum()
    vector = weights @ x
    np.testing.assert_allclose(out[n], vector / np.linalg.norm(vector), atol=1e-5)


def test_fewer_regions_than_slots_use_the_first_slots():
  layer = self_attention.SelfAttention(3, 9, 0.0, 1)
  assert layer(X, MASK).shape == (2, 3)
