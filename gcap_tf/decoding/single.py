"""The loop of greedy choice and sampling, which extend every sequence by one word at a time."""

from collections.abc import Callable

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import constraints, outputs
from gcap_tf.layers import dropout

# (branch logits [B, K, V], rules of this word, t) -> words [B].
Choose = Callable[[tf.Tensor, constraints.Constraint, tf.Tensor], tf.Tensor]


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
    choose: chooses a word.
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

  def note(notes, t, alive, here, emitted, token, rules):
    """Records ln p, attention and winners of a word."""
    if not config.details:
      return notes
    token_log_prob, attentions, winners = notes
    log_prob = tf.gather(emitted["logits"], token, batch_dims=1)
    log_prob -= tf.reduce_logsumexp(emitted["logits"], -1)
    log_prob = tf.where(alive, log_prob, 0.0)
    token = tf.where(alive, token, 0)
    return (
      tf.where(here, log_prob[:, tf.newaxis], token_log_prob),
      attentions.write(t, emitted["attention"]),
      winners.write(t, outputs.winners(emitted, token, rules)),
    )

  def body(t, state, token, alive, history, notes):
    now = None if seed is None else dropout.derive(seed, t)
    emitted = step(state, token, now)
    logits = outputs.branch_logits(emitted)
    rules = constraints.constraint(config, t, history, logits.shape[-1])
    chosen = choose(logits, rules, t)
    here = (tf.range(steps) == t)[tf.newaxis]
    notes = note(notes, t, alive, here, emitted, chosen, rules)
    token = tf.where(alive, chosen, 0)
    history = tf.where(here, token[:, tf.newaxis], history)
    state = outputs.keep_shapes(emitted["state"], state)
    return t + 1, state, token, alive & (token > 0), history, notes

  def unfinished(t, state, token, alive, *_):
    return (t < steps) & ((t == 0) | tf.reduce_any(alive))

  notes = (tf.zeros([rows, steps]), array(tf.float32), array(tf.bool)) if config.details else ()
  start = (
    0,
    state,
    tf.zeros([rows], tf.int32),
    tf.ones([rows], tf.bool),
    tf.zeros([rows, steps], tf.int32),
    notes,
  )
  *_, tokens, notes = tf.while_loop(unfinished, body, start)
  if config.end_below:
    tokens = constraints.drop_open_phrase(config, tokens, captioner.config.vocabulary_size)
  if not config.details:
    return {"tokens": tokens, "length": tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1)}
  log_prob, attentions, winners = notes
  if config.end_below:
    # The end counts only if the captioner chose it.
    is_kept = tf.pad(tokens[:, :-1] > 0, [[0, 0], [1, 0]], constant_values=True)
    log_prob = tf.where(is_kept, log_prob, 0.0)
  boxes = memory["boxes"] if copies == 1 else tf.repeat(memory["boxes"], copies, axis=0)
  return outputs.assemble(
    tokens,
    log_prob,
    outputs.pad_steps(_stack(attentions, 3), steps),
    outputs.pad_steps(_stack(winners, 2), steps),
    boxes,
    outputs.frames_of(captioner, memory, copies),
  )


def _stack(array: tf.TensorArray, rank: int) -> tf.Tensor:
  return tf.ensure_shape(array.stack(), [None] * (rank + 1))
