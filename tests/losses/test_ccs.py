"""Content swapping: golden numbers, loops, edge cases and gradients."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import ccs
from tests.layers import golden
from tests.losses import fragment_examples

V, E, MASK = golden.inputs()
SEED = tf.constant([1, 2])


def test_golden_similarities_of_word_1_and_negative_2():
  fragments = fragment_examples.golden_t2i()
  position, negative = tf.constant([1, 1]), tf.constant([2, 2])
  # Sim(q~, a) = .485358 and Sim(q, a) = .889931, so a margin of .5 leaves .095427.
  np.testing.assert_allclose(
    ccs.hinge(fragments, position, negative, 0.5)[0], 0.485358 - 0.889931 + 0.5, atol=1e-6
  )
  assert ccs.hinge(fragments, position, negative, 0.2)[0] == 0


def pair_hinges(fragments, p, length, ids, margin):
  """Equation 7 for every query and negative of a pair."""
  similarity, hinges = fragment_examples.loop_cosine, []
  for t in range(length):
    context = fragments.weights[p, t].numpy() @ V[p]
    row = [
      max(0, similarity(E[p, n], context) - similarity(E[p, t], context) + margin)
      for n in range(length)
      if n != t and ids[p, n] != ids[p, t]
    ]
    if row:
      hinges.append(row)
  return hinges


def test_all_queries_equal_a_loop_that_skips_the_same_word():
  ids = np.array([[1, 5, 5, 6], [7, 7, 8, 0]])
  fragments = fragment_examples.t2i(V, E, MASK, ids)
  total = sum(
    np.mean([np.mean(row) for row in pair_hinges(fragments, p, length, ids, 0.9)])
    for p, length in enumerate((4, 3))
  )
  np.testing.assert_allclose(ccs.loss(fragments, 0.9, SEED, "all"), total, rtol=1e-9)


def test_one_draw_is_a_sum_of_possible_hinges():
  ids = np.arange(8).reshape(2, 4)
  fragments = fragment_examples.golden_t2i()
  rows = [
    [hinge for row in pair_hinges(fragments, p, n, ids, 0.9) for hinge in row]
    for p, n in enumerate((4, 3))
  ]
  possible = {round(a + b, 9) for a in rows[0] for b in rows[1]}
  drawn = {round(float(ccs.loss(fragments, 0.9, tf.constant([0, s]))), 9) for s in range(30)}
  assert drawn <= possible
  assert len(drawn) > 5


def test_a_sentence_of_one_word_or_of_one_repeated_word_counts_nothing():
  repeated = fragment_examples.t2i(V, E, MASK, np.full((2, 4), 9))
  lonely = fragment_examples.t2i(V, E, np.arange(4) < np.array([[1], [1]]))
  for fragments in (repeated, lonely):
    assert ccs.loss(fragments, 5.0, SEED) == 0
    assert ccs.loss(fragments, 5.0, SEED, "all") == 0


@pytest.mark.parametrize("queries", ["one", "all"])
def test_gradient_equals_finite_differences(queries):
  theory, numeric = tf.test.compute_gradient(
    lambda v, e: ccs.loss(fragment_examples.t2i(v, e, MASK, sharpness=2.0), 0.9, SEED, queries),
    [tf.constant(V), tf.constant(E * MASK[..., None])],
    delta=1e-6,
  )
  np.testing.assert_allclose(theory[0], numeric[0], atol=1e-6)
  words = np.flatnonzero(np.repeat(MASK[..., None], 5, -1))
  np.testing.assert_allclose(theory[1][:, words], numeric[1][:, words], atol=1e-6)
  assert np.abs(theory[0]).max() > 1e-3
