"""Cross attention: golden numbers, a loop with materialised contexts, invariances."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import cross_attention
from tests.layers import golden

V, E, MASK = golden.inputs()
FULL = np.ones(V.shape[:2], bool)


def fragments(vectors, mask, scored=None):
  scored = None if scored is None else tf.constant(scored)
  vectors = tf.convert_to_tensor(vectors)  # keeps the tape of a tensor
  return cross_attention.Fragments(vectors, tf.constant(mask), scored)


REGIONS, WORDS = fragments(V, FULL), fragments(E, MASK)


def score(pairs, raw_norm, how, sharpness, lse=6.0):
  energies = cross_attention.energies(pairs, raw_norm, sharpness)
  relevance = cross_attention.relevance(pairs, energies)
  return cross_attention.aggregate(relevance, pairs.scored_mask, how, lse).numpy()


def t2i(raw_norm="clipped_l2norm", how="mean"):
  return score(cross_attention.all_pairs(REGIONS, WORDS), raw_norm, how, 9.0)


def i2t(raw_norm="clipped_l2norm", how="mean"):
  return score(cross_attention.all_pairs(WORDS, REGIONS), raw_norm, how, 4.0, lse=5.0).T


@pytest.mark.parametrize(
  ("options", "expected"),
  [
    ({}, "0.875504 0.830384 0.889444 0.788261"),
    ({"raw_norm": "l2norm"}, "0.901583 0.835650 0.909901 0.882087"),
    ({"raw_norm": "clipped_l1norm"}, "0.877262 0.839156 0.889684 0.792014"),
    ({"raw_norm": "l1norm"}, "0.906698 0.843265 0.909443 0.897603"),
    ({"raw_norm": "clipped"}, "0.888149 0.834040 0.889069 0.863702"),
    ({"raw_norm": "no_norm"}, "0.888072 0.834078 0.889030 0.863818"),
    ({"raw_norm": "softmax"}, "0.890153 0.676764 0.890304 0.816690"),
    ({"how": "sum"}, "3.502014 2.491151 3.557777 2.364782"),
    ({"how": "max"}, "0.931464 0.867226 0.974648 0.968220"),
    ({"how": "log_sum_exp"}, "1.118839 1.016878 1.128879 1.040887"),
  ],
)
def test_golden_scores_of_words_looking_at_regions(options, expected):
  np.testing.assert_allclose(t2i(**options).ravel(), golden.numbers(expected), atol=1e-6)


@pytest.mark.parametrize(
  ("options", "expected"),
  [
    ({}, "0.876104 0.432276 0.867394 0.727186"),
    ({"raw_norm": "l2norm"}, "0.856261 0.560391 0.851870 0.738108"),
    ({"raw_norm": "no_norm"}, "0.899887 0.575056 0.879064 0.756039"),
    ({"raw_norm": "clipped_l1norm"}, "0.846820 0.400076 0.838146 0.680676"),
    ({"raw_norm": "l1norm"}, "0.812588 0.497682 0.811677 0.690884"),
    ({"raw_norm": "softmax"}, "0.763697 0.316902 0.752197 0.587435"),
    ({"how": "sum"}, "2.628312 1.296827 2.602183 2.181557"),
    ({"how": "max"}, "0.899358 0.920938 0.968874 0.924931"),
    ({"how": "log_sum_exp"}, "1.097804 0.997132 1.101503 1.035160"),
  ],
)
def test_golden_scores_of_regions_looking_at_words(options, expected):
  np.testing.assert_allclose(i2t(**options).ravel(), golden.numbers(expected), atol=1e-6)


def test_golden_attention_of_picture_0_and_caption_1():
  pairs = cross_attention.matched_pairs(fragments(V[:1], FULL[:1]), fragments(E[1:], MASK[1:]))
  w = cross_attention.weights(cross_attention.energies(pairs, "clipped_l2norm", 9.0))
  expected = [
    [0.059808, 0.000060, 0.000005],
    [0.938297, 0.045312, 0.001162],
    [0.001895, 0.954628, 0.998833],
  ]
  np.testing.assert_allclose(w[0, :, :3, 0], expected, atol=1e-6)


def test_matched_pairs_are_the_diagonal_of_all_pairs():
  matched = score(cross_attention.matched_pairs(REGIONS, WORDS), "clipped_l2norm", "mean", 9.0)
  np.testing.assert_allclose(np.diag(t2i()), matched[:, 0], atol=1e-12)


@pytest.mark.parametrize("pairing", [cross_attention.all_pairs, cross_attention.matched_pairs])
def test_queries_that_are_not_scored_still_normalise_the_others(pairing):
  first = MASK & (np.arange(MASK.shape[1]) == 0)
  pairs, whole = pairing(REGIONS, fragments(E, MASK, first)), pairing(REGIONS, WORDS)
  energies = cross_attention.energies(whole, "clipped_l2norm", 9.0)
  np.testing.assert_array_equal(cross_attention.energies(pairs, "clipped_l2norm", 9.0), energies)
  expected = cross_attention.relevance(whole, energies)[:, 0]  # R of the first word alone.
  np.testing.assert_allclose(score(pairs, "clipped_l2norm", "mean", 9.0), expected, atol=1e-12)


@pytest.mark.parametrize("raw_norm", ["clipped_l2norm", "l1norm", "no_norm", "softmax"])
def test_vectors_of_any_length_and_padding_keys_agree_with_materialised_contexts(raw_norm):
  random = np.random.default_rng(3)
  keys, queries = random.normal(size=(2, 4, 6)), random.normal(size=(3, 5, 6))
  key_mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], bool)
  query_mask = np.array([[1] * 5, [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], bool)
  pairs = cross_attention.all_pairs(fragments(keys, key_mask), fragments(queries, query_mask))
  energies = cross_attention.energies(pairs, raw_norm, 3.0)
  actual = cross_attention.relevance(pairs, energies).numpy()  # [K, M, Q]
  for k in range(2):
    for q in range(3):
      key, query = keys[k][key_mask[k]], queries[q][query_mask[q]]
      s = query @ key.T
      if raw_norm == "clipped_l2norm":
        s1 = np.where(s > 0, s, 0.1 * s)
        s1 = s1 / (np.sqrt((s1**2).sum(0)) + 1e-8)
      elif raw_norm == "l1norm":
        s1 = s / (np.abs(s).sum(0) + 1e-8)
      elif raw_norm == "softmax":
        s1 = np.exp(s) / np.exp(s).sum(0)
      else:
        s1 = s
      for m in range(len(query)):
        w = np.exp(3 * (s1[m] - s1[m].max()))
        context = (w / w.sum()) @ key
        cosine = query[m] @ context / (np.linalg.norm(query[m]) * np.linalg.norm(context))
        np.testing.assert_allclose(actual[k, m, q], cosine, atol=1e-9)


@pytest.mark.parametrize(("raw_norm", "sharpness"), [("clipped_l2norm", 100.0), ("no_norm", 9.0)])
def test_sharp_attention_overflows_nowhere_and_padding_keys_do_not_set_its_scale(
  raw_norm, sharpness
):
  """w = softmax(lambda s') in float32 with lambda 100, or with every real s near -100."""
  keys = np.array([[[10, 1], [10, -1], [7, 7]]], np.float32)  # The last is padding.
  queries = np.array([[[-10, 1], [-9, 2]]], np.float32)
  masks = np.array([[True, True, False]]), np.array([[True, True]])
  pairs = cross_attention.all_pairs(fragments(keys, masks[0]), fragments(queries, masks[1]))
  found = cross_attention.weights(cross_attention.energies(pairs, raw_norm, sharpness)).numpy()
  s = keys[0, :2].astype(float) @ queries[0].T
  if raw_norm == "clipped_l2norm":
    s = 0.1 * s / np.linalg.norm(0.1 * s, axis=1, keepdims=True)
  w = np.exp(sharpness * (s - s.max(0)))
  np.testing.assert_allclose(found[0, :2, :, 0], w / w.sum(0), atol=1e-5)
  assert not found[0, 2].any()


def test_log_sum_exp_of_any_temperature_is_finite():
  """(1/100) ln(e^99 + e^90) = 0.99 + ln(1 + e^-9) / 100; e^99 is no float32."""
  values, mask = tf.constant([[[0.99], [0.9], [1.0]]]), tf.constant([[[True], [True], [False]]])
  found = cross_attention.aggregate(values, mask, "log_sum_exp", 100.0).numpy()
  np.testing.assert_allclose(found, 0.99 + np.log1p(np.exp(-9)) / 100, atol=1e-6)


def test_gradients_are_finite_with_padding_everywhere():
  key_mask = tf.constant([[True, False, False], [True, True, True]])
  v, e = tf.constant(V), tf.constant(E * MASK[..., None])
  with tf.GradientTape() as tape:
    tape.watch([v, e])
    pairs = cross_attention.all_pairs(fragments(v, key_mask), fragments(e, MASK))
    energies = cross_attention.energies(pairs, "clipped_l2norm", 9.0)
    scores = cross_attention.relevance(pairs, energies)
    total = tf.reduce_sum(cross_attention.aggregate(scores, pairs.query_mask, "log_sum_exp"))
  for gradient in tape.gradient(total, [v, e]):
    assert np.isfinite(gradient).all()
