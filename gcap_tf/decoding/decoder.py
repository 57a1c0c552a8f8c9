"""Decodes with the method that the options name."""

from collections.abc import Callable

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.decoding import answers, beam, greedy, outputs, sample
from gcap_tf.decoding import config as decode_config


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """Captions of I pictures by `config.method`; see `outputs.assemble`.

  Args:
    captioner: any.
    memory: output of its `encode`.
    config: method and rules.
    seed: seed of the draws, int32 [2]; sampling needs it.
  """
  if config.method == "sample":
    if seed is None:
      raise ValueError("sampling draws words: pass a seed")
    return sample.decode(captioner, memory, config, seed)
  if config.method == "beam":
    return beam.decode(captioner, memory, config)
  return greedy.decode(captioner, memory, config)


def compiled(
  captioner: base.Captioner,
  config: decode_config.DecodeConfig,
  rules: answers.AnswerRules | None = None,
) -> Callable[[base.Batch, tf.Tensor], outputs.Decoded]:
  """`(batch, seed) -> captions` as one graph.

  It ignores the parts of a batch that `encode` does not read. Batches with different numbers of
  pictures or regions share the graph. With `rules` the captions are answers (`answers.finish`).
  """

  @tf.function(autograph=False, reduce_retracing=True)
  def run(batch: base.Batch, seed: tf.Tensor) -> outputs.Decoded:
    decoded = decode(captioner, captioner.encode(batch), config, seed)
    if rules is None:
      return decoded
    return answers.finish(decoded, batch, rules, captioner.config.vocabulary_size)

  def call(batch: base.Batch, seed: tf.Tensor | None = None) -> outputs.Decoded:
    regions = {key: batch[key] for key in base.PICTURE_KEYS if key in batch}
    return run(regions, tf.zeros([2], tf.int32) if seed is None else seed)

  return call
