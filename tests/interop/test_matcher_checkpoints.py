"""Imported matchers against NumPy restatements of the official programs."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.interop import matcher_checkpoints
from gcap_tf.matchers import base, pfan
from gcap_tf.text import vocabulary as vocabularies
from tests.interop import official_matchers as official

SIZES = {"img_dim": 9, "word_dim": 5, "embed_size": 8, "sim_dim": 6}
VOCABULARY = vocabularies.Vocabulary(
  "matcher", (*vocabularies.MATCHER_SPECIALS, *(f"w{n}" for n in range(8)))
)
RANDOM = np.random.default_rng(5)
FEATURES = RANDOM.normal(size=(3, 36, 9))
CORNERS = np.sort(RANDOM.uniform(size=(3, 36, 2, 2)), axis=2).reshape(3, 36, 4)
SENTENCES = [[1, 5, 6, 7, 8, 2], [1, 4, 9, 2], [1, 11, 10, 9, 2]]
NOUNS = [[2, 4], [], [1]]


def batch():
  tokens = np.zeros((3, 7), np.int32)
  nouns = np.zeros((3, 7), bool)
  for row, (ids, positions) in enumerate(zip(SENTENCES, NOUNS, strict=True)):
    tokens[row, : len(ids)] = ids
    nouns[row, positions] = True
  return {
    "features": tf.constant(FEATURES, tf.float32),
    "boxes": tf.constant(CORNERS, tf.float32),
    "region_mask": tf.ones([3, 36], bool),
    "tokens": tf.constant(tokens),
    "token_mask": tf.constant(tokens > 0),
    "noun_mask": tf.constant(nouns),
  }


def imported(family, options, weights):
  name, matcher = matcher_checkpoints.import_matcher(family, weights, options, VOCABULARY)
  images, captions = matcher.encode_images(batch()), matcher.encode_captions(batch())
  return name, matcher.similarity(images, captions).numpy(), matcher, images, captions


def check(family, options, name, pair, rnn="rnn", blocks=None):
  """Scores of all pairs, and t2i attention of every matched pair, to 1e-4."""
  weights = official.state_dict(family, options)
  found, scores, matcher, images, captions = imported(family, options, weights)
  assert found == name
  attention = matcher.attention(images, captions).numpy()
  for i in range(3):
    v = official.regions(weights, options, FEATURES[i], None if blocks is None else blocks[i])
    for c in range(3):
      e = official.words(weights, options, SENTENCES[c], rnn)
      expected, w = pair(weights, v, e, c)
      np.testing.assert_allclose(scores[i, c], expected, atol=1e-4)
      if i == c and options.get("cross_attn", "t2i") == "t2i":
        rows = NOUNS[c] if name == "pos_scan" and NOUNS[c] else range(len(e))
        np.testing.assert_allclose(attention[c, list(rows)], w, atol=1e-4)


@pytest.mark.parametrize(
  ("cross_attn", "raw_feature_norm", "agg_func"),
  [
    *itertools.product(["t2i", "i2t"], ["clipped_l2norm", "l2norm"], ["Mean", "LogSumExp"]),
    *itertools.product(["t2i"], ["clipped_l1norm", "l1norm", "softmax"], ["Sum", "Max"]),
    *itertools.product(["i2t"], ["clipped", "no_norm"], ["Sum", "Max"]),
  ],
)
def test_scan(cross_attn, raw_feature_norm, agg_func):
  options = {
    **SIZES,
    "cross_attn": cross_attn,
    "raw_feature_norm": raw_feature_norm,
    "agg_func": agg_func,
    "lambda_softmax": 4.0,
    "bi_gru": True,
  }
  check("scan", options, "scan", lambda w, v, e, c: official.scan(options, v, e))


@pytest.mark.parametrize(
  "extra",
  [
    {},
    {"bi_gru": False},
    {"precomp_enc_type": "weight_norm", "bi_gru": True},
    {"no_imgnorm": True, "no_txtnorm": True, "bi_gru": True, "data_path": "elsewhere"},
  ],
)
def test_scan_with_defaults_and_other_encoders(extra):
  options = {**SIZES, **extra}
  check("scan", options, "scan", lambda w, v, e, c: official.scan(options, v, e))


@pytest.mark.parametrize("cross_attn", ["t2i", "i2t"])
def test_pos_scan(cross_attn):
  options = {**SIZES, "pos": True, "agg_func": "Mean", "bi_gru": True, "cross_attn": cross_attn}
  check("scan", options, "pos_scan", lambda w, v, e, c: official.scan(options, v, e, NOUNS[c]))


@pytest.mark.parametrize("focal_type", ["equal", "prob"])
def test_bfan(focal_type):
  options = {**SIZES, "focal_type": focal_type}
  check("bfan", options, "bfan", lambda w, v, e, c: official.bfan(options, v, e))


@pytest.mark.parametrize("cross_attn", ["t2i", "i2t"])
@pytest.mark.parametrize("agg_func", ["Mean", "LogSumExp"])
def test_pfan(cross_attn, agg_func):
  options = {**SIZES, "cross_attn": cross_attn, "agg_func": agg_func, "bi_gru": True}
  blocks = pfan.position_blocks(tf.constant(CORNERS, tf.float32)).numpy()
  check("pfan", options, "pfan", lambda w, v, e, c: official.pfan(options, v, e), blocks=blocks)


@pytest.mark.parametrize("extra", [{}, {"sgr_step": 2}, {"module_name": "SAF"}])
def test_sgraf(extra):
  options = {**SIZES, **extra}
  check(
    "sgraf", options, "sgraf", lambda w, v, e, c: official.sgraf(w, options, v, e), rnn="cap_rnn"
  )


def test_parameter_counts_of_the_published_sizes():
  words = (*vocabularies.MATCHER_SPECIALS, *(f"w{n}" for n in range(8477)))
  assert len(words) == 8481
  cls = base.MATCHERS.get("scan")
  matcher = cls(cls.Config(vocabulary_size=8481))
  assert sum(int(np.prod(w.shape)) for w in matcher.trainable_variables) == 12_789_420


def broken(change, options=None, family="scan"):
  options = {**SIZES, "bi_gru": True, **(options or {})}
  weights = official.state_dict(family, {**SIZES, "bi_gru": True})
  change(weights)
  with pytest.raises(errors.UserError) as caught:
    matcher_checkpoints.import_matcher(family, weights, options, VOCABULARY)
  assert "\n" not in str(caught.value)
  return str(caught.value)


def test_a_missing_key_is_named():
  assert "lack img_enc.fc.bias" in broken(lambda w: w.pop("img_enc.fc.bias"))


def test_an_extra_key_is_named():
  assert "have img_enc.new" in broken(lambda w: w.update({"img_enc.new": np.zeros(3)}))


def test_a_wrong_shape_is_named_with_what_was_expected():
  message = broken(lambda w: w.update({"img_enc.fc.weight": np.zeros((8, 4))}))
  assert "img_enc.fc.weight has shape (8, 4) but the options ask for (8, 9)" in message


def test_a_vocabulary_of_another_size_is_named():
  message = broken(lambda w: w.update({"txt_enc.embed.weight": np.zeros((13, 5))}))
  assert "13 rows but the vocabulary has 12 words" in message


def test_weights_that_are_not_finite_are_refused():
  message = broken(lambda w: w.update({"img_enc.fc.bias": np.full(8, np.nan)}))
  assert "img_enc.fc.bias holds numbers that are not finite" in message


def test_options_of_another_network_are_refused():
  assert "bi_gru is false" in broken(lambda w: None, {"bi_gru": False})
  message = broken(lambda w: None, {"precomp_enc_type": "weight_norm"})
  assert "lack img_enc.fc.weight_g" in message
  assert "img_enc.fc.weight, which these options do not use" in message
