"""SCAN: the contract, every option, golden numbers."""

import itertools
import typing

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import cross_attention
from gcap_tf.matchers import scan
from tests import matcher_harness
from tests.layers import golden

BATCH = matcher_harness.example_batch()


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_the_contract(direction):
  matcher_harness.check_matcher(
    lambda: matcher_harness.small(scan.SCANMatcher, direction=direction), BATCH
  )


def test_the_contract_with_other_encoders():
  options = {
    "bidirectional": False,
    "normalise_regions": False,
    "normalise_words": False,
    "region_layer": "weight_norm",
    "aggregation": "log_sum_exp",
  }
  matcher_harness.check_matcher(lambda: matcher_harness.small(scan.SCANMatcher, **options), BATCH)


@pytest.mark.parametrize(
  ("direction", "raw_norm", "aggregation"),
  list(
    itertools.product(
      ["t2i", "i2t"],
      typing.get_args(cross_attention.RawNorm),
      typing.get_args(cross_attention.Aggregation),
    )
  ),
)
def test_every_option_equals_a_loop_with_materialised_contexts(direction, raw_norm, aggregation):
  matcher = matcher_harness.small(
    scan.SCANMatcher, direction=direction, raw_norm=raw_norm, aggregation=aggregation
  )
  images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
  scores = matcher.similarity(images, captions).numpy()
  v, e = images["regions"].numpy().astype(float), captions["words"].numpy().astype(float)
  region_mask, word_mask = images["region_mask"].numpy(), captions["word_mask"].numpy()
  for i in range(len(v)):
    for c in range(len(e)):
      regions, words = v[i][region_mask[i]], e[c][word_mask[c]]
      queries, keys = (words, regions) if direction == "t2i" else (regions, words)
      expected = loop_score(queries, keys, 9 if direction == "t2i" else 4, raw_norm, aggregation)
      np.testing.assert_allclose(scores[i, c], expected, atol=2e-5)


def loop_score(queries, keys, sharpness, raw_norm, aggregation):
  relevance = []
  for attention, query in zip(
    loop_attention(queries, keys, sharpness, raw_norm), queries, strict=True
  ):
    context = attention @ keys
    norms = np.linalg.norm(query) * np.linalg.norm(context)
    relevance.append(query @ context / max(norms, 1e-8))
  relevance = np.array(relevance)
  if aggregation == "log_sum_exp":
    return np.log(np.exp(6 * relevance).sum()) / 6
  return {"mean": np.mean, "sum": np.sum, "max": np.max}[aggregation](relevance)


def loop_attention(queries, keys, sharpness, raw_norm):
  s = queries @ keys.T
  if raw_norm == "softmax":
    s = np.exp(s) / np.exp(s).sum(0)
  if raw_norm.startswith("clipped"):
    s = np.where(s > 0, s, 0.1 * s)
  if raw_norm.endswith("l2norm"):
    s = s / (np.sqrt((s**2).sum(0)) + 1e-8)
  if raw_norm.endswith("l1norm"):
    s = s / (np.abs(s).sum(0) + 1e-8)
  w = np.exp(sharpness * s)
  return w / w.sum(1, keepdims=True)


def test_attention_equals_a_loop():
  matcher = matcher_harness.small(scan.SCANMatcher)
  images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
  attention = matcher.attention(images, captions).numpy()
  for p in range(4):
    regions = images["regions"][p][images["region_mask"][p]].numpy()
    words = captions["words"][p][captions["word_mask"][p]].numpy()
    expected = loop_attention(words, regions, 9, "clipped_l2norm")
    np.testing.assert_allclose(attention[p, : len(words), : len(regions)], expected, atol=1e-5)


def test_golden_scores_through_the_matcher():
  v, e, mask = (tf.constant(x) for x in golden.inputs())
  images = {"regions": v, "region_mask": tf.ones([2, 3], bool)}
  captions = {"words": e, "word_mask": mask, "noun_mask": mask, "tokens": tf.ones([2, 4], tf.int32)}
  matcher = matcher_harness.small(scan.SCANMatcher)
  np.testing.assert_allclose(
    matcher.similarity(images, captions).numpy().ravel(),
    [0.875504, 0.830384, 0.889444, 0.788261],
    atol=1e-6,
  )


def test_positive_rescaling_of_the_features_changes_nothing_while_biases_are_zero():
  matcher = matcher_harness.small(scan.SCANMatcher)
  louder = {**BATCH, "features": 3.0 * BATCH["features"]}
  np.testing.assert_allclose(
    matcher_harness.similarity(matcher, louder),
    matcher_harness.similarity(matcher, BATCH),
    atol=2e-6,
  )


def test_regions_of_another_size_are_refused_in_one_line():
  matcher = matcher_harness.small(scan.SCANMatcher)
  with pytest.raises(errors.UserError, match=r"^region features have 4 numbers") as raised:
    matcher.encode_images({**BATCH, "features": BATCH["features"][..., :4]})
  assert "\n" not in str(raised.value)
