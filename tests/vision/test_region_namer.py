import numpy as np
import tensorflow as tf

from gcap_tf.vision import region_namer

_X = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)


def _namer(rate=0.3):
  return region_namer.RegionNamer(6, 4, 3, 8, rate)


def test_words_and_colours_have_logits():
  logits = _namer()(_X)
  assert logits["label"].shape == (5, 4) and logits["colour"].shape == (5, 3)


def test_dropout_is_a_function_of_the_seed():
  namer = _namer()
  seeds = [tf.constant([1, step]) for step in (1, 1, 2)]
  first, again, other = (namer(_X, seed)["label"].numpy() for seed in seeds)
  np.testing.assert_array_equal(first, again)
  assert np.abs(first - other).max() > 0


def test_every_weight_learns():
  namer = _namer()
  with tf.GradientTape() as tape:
    logits = namer(_X, tf.constant([1, 2]))
    loss = sum(tf.reduce_sum(tf.square(value)) for value in logits.values())
  gradients = tape.gradient(loss, [weight.value for weight in namer.trainable_variables])
  assert all(np.abs(gradient).max() > 0 for gradient in gradients)
