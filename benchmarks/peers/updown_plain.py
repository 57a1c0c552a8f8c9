"""Up-Down in plain TensorFlow, in the order of work of the released programs.

It copies the features for every caption, embeds and scores each word in its own step, loops
over words in Python, and decodes one picture at a time in beam search. It uses the weights
of a model of the library, so that the answers can be compared.
"""

import numpy as np
import tensorflow as tf

from gcap_tf.captioners import updown
from gcap_tf.layers import recurrent


class PlainUpDown:
  """Computes the same as `model`, without its optimisations."""

  def __init__(self, model: updown.UpDownCaptioner):
    self.model = model
    self.hidden = model.config.hidden_size

  def encode(self, batch, copies):
    """Encodes a batch for `copies` sequences per picture."""
    model = self.model
    features = tf.repeat(batch["features"], copies, 0)
    picture = tf.nn.relu(model.encode_picture(tf.repeat(batch["global_feature"], copies, 0)))
    regions = tf.nn.relu(model.encode_region(features))
    return picture, regions, model.region_attention.key_map(regions)

  def start(self, rows):
    return tuple(tf.zeros([rows, self.hidden]) for _ in range(4))

  def step(self, memory, token, state):
    """Returns log-probabilities, attention and state after `token`."""
    model, (picture, regions, keys) = self.model, memory
    h1, c1, h2, c2 = state
    words = tf.nn.relu(model.words(token))
    cell, attention = model.attention_lstm, model.region_attention
    kernel = tf.concat([*cell.input_kernels, cell.step_kernel], 0)
    gates = tf.matmul(tf.concat([picture, words, h2, h1], 1), kernel) + cell.bias
    h1, c1 = recurrent.activate(gates, c1)
    query = attention.query_map(h1)[:, tf.newaxis]
    scores = tf.reduce_sum(tf.tanh(keys + query) * attention.score_kernel[0], -1)
    weights = tf.nn.softmax(scores)
    context = tf.reduce_sum(weights[..., tf.newaxis] * regions, 1)
    h2, c2 = model.language_lstm(None, [context, h1], h2, c2)
    log_probs = tf.nn.log_softmax(model.word_output(h2))
    return log_probs, weights, (h1, c1, h2, c2)

  @tf.function(reduce_retracing=True)
  def compiled_step(self, memory, token, state):
    return self.step(memory, token, state)

  def loss(self, batch):
    """Returns the mean loss over words, unrolled into the caller's graph."""
    tokens, mask = batch["tokens"], tf.cast(batch["token_mask"], tf.float32)
    copies = tokens.shape[0] // batch["features"].shape[0]
    memory, state = self.encode(batch, copies), self.start(tokens.shape[0])
    token, total = tf.zeros_like(tokens[:, 0]), 0.0
    for t in range(tokens.shape[1]):
      log_probs, _, state = self.step(memory, token, state)
      token = tokens[:, t]
      picked = tf.gather(log_probs, token, batch_dims=1)
      total -= tf.reduce_sum(picked * mask[:, t])
    return total / tf.reduce_sum(mask)

  def greedy(self, batch, max_length=20):
    memory = self.encode(batch, 1)
    rows = batch["features"].shape[0]
    state, token = self.start(rows), tf.zeros([rows], tf.int32)
    alive, words = np.ones(rows, bool), []
    for _ in range(max_length):
      log_probs, _, state = self.compiled_step(memory, token, state)
      token = np.where(alive, np.argmax(log_probs, -1), 0).astype(np.int32)
      words.append(token)
      alive &= token > 0
      if not alive.any():
        break
      token = tf.constant(token)
    return np.stack(words, 1)

  def beam(self, batch, beams=3, max_length=20):
    """Decodes picture by picture and sorts the candidates in Python."""
    answers = []
    for n in range(batch["features"].shape[0]):
      one = {key: batch[key][n : n + 1] for key in ("features", "global_feature")}
      answers.append(self._beam_of_one(self.encode(one, beams), beams, max_length))
    return answers

  def _beam_of_one(self, memory, beams, max_length):
    state, token = self.start(beams), tf.zeros([beams], tf.int32)
    sums, paths, done = [0.0] * beams, [[] for _ in range(beams)], []
    for t in range(max_length):
      log_probs, _, state = self.compiled_step(memory, token, state)
      log_probs = log_probs.numpy()
      log_probs[:, -1] -= 1000.0
      order = np.argsort(-log_probs, axis=1)[:, :beams]
      offers = [
        (sums[q] + log_probs[q, order[q, c]], q, int(order[q, c]))
        for c in range(beams)
        for q in range(1 if t == 0 else beams)
      ]
      offers = sorted(offers, key=lambda offer: -offer[0])[:beams]
      paths = [[*paths[q], word] for _, q, word in offers]
      sums = [total for total, _, _ in offers]
      for n, (total, _, word) in enumerate(offers):
        if word == 0 or t == max_length - 1:
          done.append((total, paths[n]))
          sums[n] = -1000.0
      rows = [q for _, q, _ in offers]
      state = tuple(tf.gather(x, rows) for x in state)
      token = tf.constant([word for _, _, word in offers])
    return max(done, key=lambda entry: entry[0])[1]
