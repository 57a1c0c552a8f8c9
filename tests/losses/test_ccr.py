"""Content re-sourcing: golden numbers, loops, edge cases and gradients."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import ccr
from tests.layers import golden
from tests.losses import fragment_examples

V, E, MASK = golden.inputs()
SEED = tf.constant([1, 2])


def test_golden_similarities_of_picture_0_and_its_word_1():
  fragments = fragment_examples.golden_t2i()
  np.testing.assert_allclose(fragments.weights[0, 1], [0.049457, 0.947985, 0.002558], atol=1e-6)
  attended = ccr.similarity(fragments, fragments.weights)[0, 1]
  reversed_ = ccr.similarity(fragments, ccr.reversed_weights(fragments))[0, 1]
  np.testing.assert_allclose([attended, reversed_], [0.889931, 0.864864], atol=1e-6)
  np.testing.assert_allclose(ccr.hinge(fragments, 0.2)[0, 1], 0.174933, atol=1e-6)


def test_all_queries_equal_a_loop_over_equation_6():
  fragments = fragment_examples.golden_t2i()
  total = 0.0
  for p, length in enumerate((4, 3)):
    hinges = []
    for t in range(length):
      w = fragments.weights[p, t].numpy()
      reversed_ = (1 - w) / (1 - w).sum()
      q = E[p, t]
      similarity = fragment_examples.loop_cosine
      hinges.append(max(0, similarity(q, reversed_ @ V[p]) - similarity(q, w @ V[p]) + 0.2))
    total += np.mean(hinges)
  np.testing.assert_allclose(ccr.loss(fragments, 0.2, SEED, "all"), total, rtol=1e-9)


def test_one_query_is_one_of_the_eligible_hinges_and_changes_with_the_seed():
  fragments = fragment_examples.golden_t2i()
  hinges = ccr.hinge(fragments, 0.9).numpy()
  possible = {round(a + b, 9) for a in hinges[0] for b in hinges[1, :3]}
  drawn = {round(float(ccr.loss(fragments, 0.9, tf.constant([0, s]))), 9) for s in range(20)}
  assert drawn <= possible
  assert len(drawn) > 3


def test_a_single_key_and_a_pair_without_queries_count_nothing():
  one_key = fragment_examples.t2i(V[:, :1], E, MASK)
  assert ccr.loss(one_key, 0.2, SEED) == 0
  assert ccr.loss(one_key, 0.2, SEED, "all") == 0
  nobody = fragment_examples.t2i(V, E, np.zeros_like(MASK))
  assert ccr.loss(nobody, 0.2, SEED) == 0
  assert ccr.loss(nobody, 0.2, SEED, "all") == 0


@pytest.mark.parametrize("queries", ["one", "all"])
def test_gradient_equals_finite_differences(queries):
  theory, numeric = tf.test.compute_gradient(
    lambda v, e: ccr.loss(fragment_examples.t2i(v, e, MASK, sharpness=2.0), 0.2, SEED, queries),
    [tf.constant(V), tf.constant(E * MASK[..., None])],
    delta=1e-6,
  )
  np.testing.assert_allclose(theory[0], numeric[0], atol=1e-6)
  words = np.flatnonzero(np.repeat(MASK[..., None], 5, -1))  # Padding words are constants.
  np.testing.assert_allclose(theory[1][:, words], numeric[1][:, words], atol=1e-6)
  assert np.abs(theory[0]).max() > 1e-3
