import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.decoding import beam, greedy
from gcap_tf.decoding import config as decode_config
from gcap_tf.interop import captioner_checkpoints
from gcap_tf.text import vocabulary
from tests import updown_oracle

WORDS = vocabulary.Vocabulary("captioner", ("", *(f"w{n}" for n in range(1, 10)), "UNK"))


def batch_of(rng, pictures, features=7, least=3, most=6):
  counts = rng.integers(least, most + 1, size=pictures)
  mask = np.arange(most) < counts[:, None]
  regions = rng.normal(size=(pictures, most, features)) * mask[..., None]
  fc = rng.normal(size=(pictures, features))
  batch = {
    "features": tf.constant(regions, tf.float32),
    "global_feature": tf.constant(fc, tf.float32),
    "region_mask": tf.constant(mask),
    "boxes": tf.zeros([pictures, most, 4]),
  }
  return batch, [(fc[n], regions[n, : counts[n]]) for n in range(pictures)]


@pytest.mark.parametrize("use_bn", [0, 1, 2])
@pytest.mark.parametrize("logit_layers", [1, 2, 3])
def test_imported_weights_give_the_same_words_and_attention(use_bn, logit_layers):
  rng = np.random.default_rng(10 * use_bn + logit_layers)
  weights = updown_oracle.make_weights(rng, use_bn=use_bn, logit_layers=logit_layers)
  options = {"use_bn": use_bn, "logit_layers": logit_layers, "rnn_size": 6, "att_hid_size": 4}
  config, model = captioner_checkpoints.import_updown(weights, options, WORDS)
  assert (config.hidden_size, config.embedding_size, config.attention_size) == (6, 5, 4)
  batch, pictures = batch_of(rng, 3)
  tokens = rng.integers(0, 11, size=(6, 7)).astype(np.int32)
  outputs = model.teacher_force(model.encode(batch), tf.constant(tokens))
  log_probs = tf.nn.log_softmax(outputs["logits"]).numpy()
  for row, words in enumerate(tokens):
    oracle = updown_oracle.UpDown(weights, *pictures[row // 2], use_bn, logit_layers)
    expected, attention = oracle.teacher_force(words)
    np.testing.assert_allclose(log_probs[row], expected, atol=1e-4)
    found = outputs["attention"][row, :, 0].numpy()
    np.testing.assert_allclose(found[:, : attention.shape[1]], attention, atol=1e-4)


def test_greedy_and_beam_captions_equal_those_of_a_plain_search():
  """64 pictures of 16 random models; a choice that rounding could flip is not counted."""
  compared = {"greedy": 0, "beam": 0}
  lengths = set()
  for seed in range(16):
    rng = np.random.default_rng(seed)
    weights = updown_oracle.make_lively_weights(rng, ending=4.0 * (seed % 4))
    _, model = captioner_checkpoints.import_updown(weights, {}, WORDS)
    batch, pictures = batch_of(rng, 4)
    memory = model.encode(batch)
    options = decode_config.DecodeConfig(unknown="suppress", beam_size=3, max_length=12)
    first = greedy.decode(model, memory, decode_config.DecodeConfig(max_length=12))
    best = beam.decode(model, memory, options)
    for n, picture in enumerate(pictures):
      oracle = updown_oracle.UpDown(weights, *picture)
      tokens, attention, margin = updown_oracle.greedy(oracle, 12)
      if margin > 1e-4:
        compared["greedy"] += 1
        assert WORDS.decode(first["tokens"][n]) == WORDS.decode(tokens)
        _compare_attention(first, n, attention)
      tokens, attention, score, margin = updown_oracle.beam_search(oracle, 3, 12)
      if margin > 1e-4:
        compared["beam"] += 1
        lengths.add(len(tokens))
        assert WORDS.decode(best["tokens"][n]) == WORDS.decode(tokens)
        np.testing.assert_allclose(best["score"][n], score, atol=1e-3)
        _compare_attention(best, n, attention)
  assert min(compared.values()) > 50 and len(lengths) > 6, (compared, lengths)


def _compare_attention(decoded, n, attention):
  for t, row in enumerate(attention):
    np.testing.assert_allclose(decoded["attention"][n, t, 0, : len(row)], row, atol=1e-4)


def test_boxes_and_normalised_features_are_options_of_the_model():
  rng = np.random.default_rng(0)
  options = {"use_box": 1, "norm_att_feat": 1, "drop_prob_lm": 0.3}
  weights = updown_oracle.make_weights(rng, f=12)
  config, _ = captioner_checkpoints.import_updown(weights, options, WORDS)
  assert config.feature_size == 7 and config.use_box and config.normalize_features
  assert config.dropout == 0.3


def changed(**changes):
  weights = updown_oracle.make_weights(np.random.default_rng(0))
  for name, value in changes.items():
    if value is None:
      del weights[name]
    else:
      weights[name] = value
  return weights


@pytest.mark.parametrize(
  "weights, options, message",
  [
    (changed(**{"ctx2att.bias": None}), {}, r"ctx2att.bias \[4\] is missing"),
    (changed(**{"embed.0.weight": None}), {}, "embed.0.weight is missing"),
    (changed(**{"core.extra": np.zeros(2)}), {}, "Up-Down has no part for core.extra"),
    (changed(**{"logit.bias": np.zeros(3)}), {}, r"logit.bias is \[3\], expected \[11\]"),
    (changed(**{"logit.bias": np.full(11, np.nan)}), {}, "logit.bias holds values .* not finite"),
    (changed(), {"use_bn": 3}, "use_bn is 3"),
    (changed(), {"use_bn": 1}, "att_embed.1.weight is missing"),
    (changed(), {"logit_layers": 2}, "logit.0.weight"),
    (changed(), {"use_box": 1, "norm_box_feat": 1}, "norm_box_feat is 1"),
    (changed(), {"rnn_size": 512}, "rnn_size is 512, but the weights have 6"),
    (changed(), {"caption_model": "transformer"}, 'caption_model is "transformer"'),
  ],
)
def test_what_does_not_fit_is_named_in_one_line(weights, options, message):
  with pytest.raises(errors.UserError, match=message) as error:
    captioner_checkpoints.import_updown(weights, options, WORDS)
  assert "\n" not in str(error.value)


def test_a_vocabulary_of_another_size_is_refused():
  words = vocabulary.Vocabulary("captioner", ("", "a", "UNK"))
  with pytest.raises(errors.UserError, match="11 rows, the vocabulary 3 words"):
    captioner_checkpoints.import_updown(changed(), {}, words)
