"""Captions drawn from the captioner, with the log-probabilities that REINFORCE needs."""

import tensorflow as tf

from gcap_tf.captioners import base, branches
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import outputs, single
from gcap_tf.layers import dropout

_DRAW = 1000


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  seed: tf.Tensor,
  noise_seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """Draws `config.samples` captions per picture.

  Log-probabilities are the captioner's own, at temperature 1 and without constraints.
  `teacher_force(memory, tokens, noise_seed)` repeats them exactly, with a gradient.

  Args:
    captioner: any; words of several branches are drawn from their mean distribution.
    memory: of I pictures.
    config: samples, temperature, constraints, length.
    seed: seed of the draws, int32 [2].
    noise_seed: seed of the captioner's dropout, or None.

  Returns:
    See `outputs.assemble`; B = I * samples, picture-major.
  """

  def draw(logits, rules, t):
    logits = branches.mixture(rules.lower(logits)) / config.temperature
    now = dropout.derive(dropout.derive(seed, _DRAW), t)
    return tf.random.stateless_categorical(logits, 1, now, tf.int32)[:, 0]

  return single.decode(captioner, memory, config, draw, config.samples, noise_seed)
