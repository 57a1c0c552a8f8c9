"""Greedy decoding: the likeliest word, or the word that most branches name."""

import tensorflow as tf

from gcap_tf.captioners import base, branches
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import outputs, single


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """One caption per picture; see `outputs.assemble` for what it holds."""
  return single.decode(captioner, memory, config, lambda logits, t: branches.vote(logits), 1, seed)
