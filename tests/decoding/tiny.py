"""A captioner whose distributions are given, so that decoders can be checked by hand."""

import numpy as np
import tensorflow as tf

from gcap_tf.captioners import base


class Script(base.Captioner):
  """Log-probabilities of the next word from the last word: a table [V, V] per picture.

  With `branches` [K, V, V] there are K tables; branch k looks at region k.
  """

  def __init__(self, tables):
    super().__init__(config=None)
    self.tables = tf.constant(np.asarray(tables), tf.float32)

  def encode(self, batch, seed=None):
    return batch

  def initial_state(self, memory):
    return {"steps": tf.zeros([tf.shape(memory["boxes"])[0], 1])}

  def step(self, memory, state, token, seed=None):
    logits = tf.transpose(tf.gather(self.tables, token, axis=1), [1, 0, 2])  # [B, K, V]
    branches, regions = self.tables.shape[0], memory["boxes"].shape[1]
    attention = tf.tile(tf.eye(branches, regions)[None], [tf.shape(token)[0], 1, 1])
    # The last word picks the region of a single branch, so that mix-ups show.
    if branches == 1:
      attention = tf.one_hot(token % regions, regions)[:, None]
    mean = tf.math.log(tf.reduce_mean(tf.nn.softmax(logits), 1))
    return {
      "logits": mean,
      "branch_logits": logits,
      "attention": attention,
      "state": {"steps": state["steps"] + 1.0},
    }

  def teacher_force(self, memory, tokens, seed=None):
    raise NotImplementedError


def memory(pictures=1, regions=4):
  """Region r of every picture has the box [r/8, r/8, (r+2)/8, (r+2)/8]."""
  low = np.arange(regions) / 8
  boxes = np.stack([low, low, low + 0.25, low + 0.25], -1)
  return {
    "boxes": tf.constant(np.tile(boxes[None], (pictures, 1, 1)), tf.float32),
    "region_mask": tf.ones([pictures, regions], tf.bool),
  }


def table(rows, size):
  """Log-probabilities from {word: {next: probability}}; what is not named is nearly 0."""
  out = np.full((size, size), 1e-6)
  for word, following in rows.items():
    for after, probability in following.items():
      out[word, after] = probability
  return np.log(out / out.sum(-1, keepdims=True))
