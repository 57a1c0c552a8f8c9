import numpy as np
import tensorflow as tf

from benchmarks.peers import updown_plain
from gcap_tf.captioners import updown
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from tests import captioner_harness


def make():
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  model = updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, global_size=7, **sizes))
  model.word_output.kernel.assign(model.word_output.kernel * 20.0)
  batch = captioner_harness.make_batch()
  batch["region_mask"] = tf.ones_like(batch["region_mask"])
  return model, batch


def test_the_plain_version_computes_the_same_loss_and_captions():
  model, batch = make()
  plain = updown_plain.PlainUpDown(model)
  np.testing.assert_allclose(
    plain.loss(batch), captioner_harness.word_loss(model, batch), rtol=1e-4
  )
  for method in ("greedy", "beam"):
    options = decode_config.DecodeConfig(
      method=method, unknown="allow" if method == "greedy" else "suppress"
    )
    tokens = decoder.decode(model, model.encode(batch), options)["tokens"].numpy()
    for mine, other in zip(tokens, getattr(plain, method)(batch), strict=True):
      words = [int(word) for word in other]
      words = words[: words.index(0)] if 0 in words else words
      assert mine[: len(words)].tolist() == words
