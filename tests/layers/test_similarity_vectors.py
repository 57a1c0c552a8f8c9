"""Similarity vectors: both forms agree, and the hand-written gradient is right."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import similarity_vectors


def example():
  random = np.random.default_rng(0)
  return [
    tf.constant(random.normal(size=shape)) for shape in ((2, 3, 4), (2, 3, 5), (4, 5), (5, 2), (2,))
  ]


def test_vectors_equal_a_loop_over_pictures_and_words():
  weights, regions, words, kernel, bias = (x.numpy() for x in example())
  actual = similarity_vectors.all_pairs(*example()).numpy()
  for i in range(2):
    for w in range(4):
      context = sum(weights[i, r, w] * regions[i, r] for r in range(3))
      expected = (context - words[w]) ** 2 @ kernel + bias
      np.testing.assert_allclose(actual[i, w], expected, atol=1e-12)


def test_matched_pairs_are_rows_of_all_pairs():
  weights, regions, words, kernel, bias = example()
  every = similarity_vectors.all_pairs(weights, regions, words, kernel, bias)
  both = tf.stack([words, words])
  pairs = similarity_vectors.matched_pairs(weights, regions, both, kernel, bias)
  np.testing.assert_allclose(pairs, every, atol=1e-12)


def test_the_hand_written_gradient_equals_finite_differences():
  def value(*arguments):
    return tf.reduce_sum(tf.sin(similarity_vectors.all_pairs(*arguments)))

  for run in (value, tf.function(value)):
    theory, numeric = tf.test.compute_gradient(run, example(), delta=1e-6)
    for t, n in zip(theory, numeric, strict=True):
      np.testing.assert_allclose(t, n, atol=1e-6)
