"""Beam search of a whole batch in one loop, with the attention of the best caption.

It gives the same answers as the released Up-Down programs, which search picture by picture:

1. At the first step there is one beam; after it N. Each offers its N best words; offers
   are ranked by the running sum of log-probabilities, ties by the word's rank in its
   beam, then by beam.
2. A beam that ends (word 0, or the last step) is a finished caption with the score
   penalty(length, sum); its running sum becomes -1000, so it cannot win again.
3. The answer is the finished caption of highest score, the first found among equals.

The search ends early if no live beam can still win; this changes no answer.
"""

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import constraints, outputs

DEAD = -1000.0
_NEVER = tf.float32.min


def length_penalty(
  config: decode_config.DecodeConfig, length: tf.Tensor, total: tf.Tensor
) -> tf.Tensor:
  """Score of a caption of `length` steps (its end included) from its summed log-probability."""
  length = tf.cast(length, tf.float32)
  if config.length_penalty == "wu":
    return total / (((5.0 + length) ** config.length_alpha) / (6.0**config.length_alpha))
  return total / length if config.length_penalty == "average" else total


def decode(
  captioner: base.Captioner, memory: base.Memory, config: decode_config.DecodeConfig
) -> outputs.Decoded:
  """The best caption of each picture; see `outputs.assemble`. Adds `score` [I]."""
  beams, steps = config.beam_size, config.max_length
  state, step = base.repeat(captioner.initial_state(memory), beams), captioner.stepper(memory)
  pictures = tf.shape(memory["boxes"])[0]

  def body(t, state, before, sums, path, path_log_prob, best, attentions, names):
    emitted = step(state, before)
    logits = emitted["logits"]
    history = tf.reshape(path[..., 0], [-1, steps])
    rules = constraints.constraint(config, t, history, logits.shape[-1])
    words = _offer(logits, rules, beams)
    parent, token, sums, log_prob = _select(words, sums, t)

    here = (tf.range(steps) == t)[:, tf.newaxis]
    added = tf.stack([token, parent], -1)[:, :, tf.newaxis]  # [I, N, 1, 2]
    path = tf.where(here, added, tf.gather(path, parent, batch_dims=1))
    path_log_prob = tf.gather(path_log_prob, parent, batch_dims=1)
    path_log_prob = tf.where(here[:, 0], log_prob[..., tf.newaxis], path_log_prob)

    ended = (token == 0) | (t == steps - 1)
    score = tf.where(ended, length_penalty(config, t + 1, sums), _NEVER)
    best = _better(best, score, path, path_log_prob)
    sums = tf.where(ended, DEAD, sums)

    rows = tf.reshape(tf.range(pictures)[:, tf.newaxis] * beams + parent, [-1])
    moved = tf.nest.map_structure(lambda x: tf.gather(x, rows), emitted["state"])
    attentions = attentions.write(t, emitted["attention"])
    names = names.write(t, _named(outputs.branch_logits(emitted), rules))
    state, token = outputs.keep_shapes((moved, tf.reshape(token, [-1])), (state, before))
    return t + 1, state, token, sums, path, path_log_prob, best, attentions, names

  def unfinished(t, state, token, sums, path, path_log_prob, best, *_):
    # A live sum can only fall; the penalty at the last step bounds the score it can reach.
    reachable = tf.maximum(length_penalty(config, t + 1, sums), length_penalty(config, steps, sums))
    return (t < steps) & tf.reduce_any(tf.reduce_max(reachable, 1) > best["score"])

  start = (
    0,
    state,
    tf.zeros([pictures * beams], tf.int32),
    tf.zeros([pictures, beams]),
    tf.zeros([pictures, beams, steps, 2], tf.int32),
    tf.zeros([pictures, beams, steps]),
    {
      "score": tf.fill([pictures], _NEVER),
      "path": tf.zeros([pictures, steps, 2], tf.int32),
      "log_prob": tf.zeros([pictures, steps]),
    },
    tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False),
    tf.TensorArray(tf.int32, 0, dynamic_size=True, infer_shape=False),
  )
  *_, best, attentions, names = tf.while_loop(unfinished, body, start)
  frames = outputs.frames_of(captioner, memory)
  return _answer(best, attentions, names, memory["boxes"], frames, beams, steps)


def _named(branch_logits, rules):
  """The word that each branch names under the rules; zeros for one branch, which always wins."""
  if branch_logits.shape[1] == 1:
    return tf.zeros(tf.shape(branch_logits)[:2], tf.int32)
  return tf.argmax(rules.lower(branch_logits), -1, output_type=tf.int32)


def _offer(logits, rules, beams):
  """The N best words of every beam: ranked by `value`, `log_prob` the captioner's own.

  Args:
    logits: [I * N, V].
    rules: the `constraints.Constraint` of this word.

  Returns:
    `word`, `value`, `log_prob`, each [I, N, N].
  """
  log_probs = tf.nn.log_softmax(logits)
  size = logits.shape[-1]  # Reshaping, unlike slicing, copies nothing.
  ranked = tf.reshape(rules.lower(tf.reshape(log_probs, [-1, 1, size])), [-1, size])
  value, word = tf.math.top_k(ranked, min(beams, size))
  own = value if rules.is_empty else tf.gather(log_probs, word, batch_dims=1)
  shape = [-1, beams, value.shape[-1]]
  return {
    "word": tf.reshape(word, shape),
    "value": tf.reshape(value, shape),
    "log_prob": tf.reshape(own, shape),
  }


def _select(words, sums, t):
  """The N best offers of each picture: parent beam, word, running sum, log-probability."""
  beams = sums.shape[1]
  first = tf.where(tf.range(beams) == 0, 0.0, _NEVER)
  start = tf.where(t == 0, sums + first, sums)
  # Rank in its beam first, beam second: the order in which official code sorts offers.
  offers = tf.transpose(start[..., tf.newaxis] + words["value"], [0, 2, 1])  # [I, rank, N]
  sums, index = tf.math.top_k(tf.reshape(offers, [-1, offers.shape[1] * beams]), beams)
  rank, parent = index // beams, index % beams

  def pick(x):
    flat = tf.reshape(tf.transpose(x, [0, 2, 1]), [-1, offers.shape[1] * beams])
    return tf.gather(flat, rank * beams + parent, batch_dims=1)

  return parent, pick(words["word"]), sums, pick(words["log_prob"])


def _better(best, score, path, path_log_prob):
  """Keeps the best finished caption of each picture; the earlier one among equals."""
  beam = tf.argmax(score, 1, output_type=tf.int32)
  found = tf.gather(score, beam, batch_dims=1)
  better = found > best["score"]
  return {
    "score": tf.where(better, found, best["score"]),
    "path": tf.where(
      better[:, tf.newaxis, tf.newaxis], tf.gather(path, beam, batch_dims=1), best["path"]
    ),
    "log_prob": tf.where(
      better[:, tf.newaxis], tf.gather(path_log_prob, beam, batch_dims=1), best["log_prob"]
    ),
  }


def _answer(best, attentions, names, boxes, frames, beams, steps):
  """The output of the best caption: attention and names of the beams on its path."""
  tokens, parents = best["path"][..., 0], best["path"][..., 1]  # [I, T]
  attention = tf.ensure_shape(attentions.stack(), [None] * 4)  # [t, I * N, K, R]
  named = tf.ensure_shape(names.stack(), [None] * 3)  # [t, I * N, K]
  attention = outputs.pad_steps(attention, steps)  # [I * N, T, K, R]
  named = outputs.pad_steps(named, steps)
  rows = tf.range(tf.shape(tokens)[0])[:, tf.newaxis] * beams + parents
  index = tf.stack([rows, tf.broadcast_to(tf.range(steps), tf.shape(rows))], -1)
  named = tf.gather_nd(named, index)  # [I, T, K]
  won = named == tokens[..., tf.newaxis]
  first = tf.range(tf.shape(won)[-1]) == 0
  won = tf.where(tf.reduce_any(won, -1, keepdims=True), won, first)
  attention = tf.gather_nd(attention, index)
  decoded = outputs.assemble(tokens, best["log_prob"], attention, won, boxes, frames)
  return {**decoded, "score": best["score"]}
