"""The loop of decoders that follow one sequence at a time: greedy choice and sampling."""

from collections.abc import Callable

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import constraints, outputs
from gcap_tf.layers import dropout

# (branch logits [B, K, V] with the constraints applied, t) -> words [B].
Choose = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  choose: Choose,
  copies: int = 1,
  seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """Emits words until every sequence has ended or is full.

  Args:
    captioner: any.
    memory: of I pictures.
    config: constraints and length.
    choose: takes a word.
    copies: sequences per picture.
    seed: of the captioner's dropout, or None.

  Returns:
    See `outputs.assemble`; B = I * copies, picture-major.
  """
  state, step = captioner.initial_state(memory), captioner.stepper(memory)
  if copies > 1:
    state = base.repeat(state, copies)
  rows = tf.shape(tf.nest.flatten(state)[0])[0]
  steps = config.max_length

  def array(dtype):
    return tf.TensorArray(dtype, 0, dynamic_size=True, infer_shape=False)

  def body(t, state, token, alive, history, token_log_prob, attentions, winners):
    now = None if seed is None else dropout.derive(seed, t)
    emitted = step(state, token, now)
    logits = outputs.branch_logits(emitted)
    extra = constraints.penalty(config, t, history, logits.shape[-1])
    token = choose(logits if extra is None else logits + extra[:, tf.newaxis], t)
    log_prob = tf.gather(emitted["logits"], token, batch_dims=1)
    log_prob -= tf.reduce_logsumexp(emitted["logits"], -1)
    token = tf.where(alive, token, 0)
    here = (tf.range(steps) == t)[tf.newaxis]
    history = tf.where(here, token[:, tf.newaxis], history)
    log_prob = tf.where(alive, log_prob, 0.0)
    token_log_prob = tf.where(here, log_prob[:, tf.newaxis], token_log_prob)
    attentions = attentions.write(t, emitted["attention"])
    winners = winners.write(t, outputs.winners(emitted, token))
    state = outputs.keep_shapes(emitted["state"], state)
    return t + 1, state, token, alive & (token > 0), history, token_log_prob, attentions, winners

  def unfinished(t, state, token, alive, *_):
    return (t < steps) & ((t == 0) | tf.reduce_any(alive))

  start = (
    0,
    state,
    tf.zeros([rows], tf.int32),
    tf.ones([rows], tf.bool),
    tf.zeros([rows, steps], tf.int32),
    tf.zeros([rows, steps]),
    array(tf.float32),
    array(tf.bool),
  )
  _, _, _, _, tokens, log_prob, attentions, winners = tf.while_loop(unfinished, body, start)
  boxes = memory["boxes"] if copies == 1 else tf.repeat(memory["boxes"], copies, axis=0)
  return outputs.assemble(
    tokens,
    log_prob,
    outputs.pad_steps(_stack(attentions, 3), steps),
    outputs.pad_steps(_stack(winners, 2), steps),
    boxes,
  )


def _stack(array: tf.TensorArray, rank: int) -> tf.Tensor:
  return tf.ensure_shape(array.stack(), [None] * (rank + 1))
