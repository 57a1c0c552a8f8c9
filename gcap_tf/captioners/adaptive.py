"""Adaptive attention (Lu et al., "Knowing When to Look", CVPR 2017, arXiv:1612.01887).

    V_i = Drop(ReLU(W r_i))      g = Drop(ReLU(W v))      x_t = Drop(ReLU(Emb[w_(t-1)]))
    (h_t, c_t) = LSTM([x_t; g])
    s_t = σ(W_x x_t + W_v g + W_h h_(t-1)) ⊙ tanh(c_t)               the visual sentinel
    h' = Drop(tanh(W Drop(h_t)))      s' = Drop(ReLU(W Drop(s_t)))
    z  = w · Drop(tanh([W s'; W V] + W h'))      π = softmax(z)      the sentinel first
    log p = log_softmax(W_o Drop(tanh(W (Σ π [s'; V] + h'))))

The LSTM does not see the attended regions, so everything but the LSTM runs on all words at
once. `attention` is over regions alone; `sentinel` is the weight of the sentinel.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.captioners import base
from gcap_tf.layers import dropout, linear, masking, recurrent, region_input, unrolling

_WORD, _STATE, _STATE_2, _SENTINEL, _SENTINEL_2, _SCORE, _OUTPUT, _REGION, _PICTURE = range(9)

Drop = Callable[[tf.Tensor, int], tf.Tensor]


@dataclasses.dataclass(frozen=True)
class AdaptiveConfig(base.CaptionerConfig):
  """Options of adaptive attention.

  Attributes:
    embedding_size: E.
    hidden_size: H, also of regions and of the attention.
    dropout: rate everywhere.
  """

  embedding_size: configs.PositiveInt = 512
  hidden_size: configs.PositiveInt = 512
  dropout: configs.Fraction = 0.5


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("adaptive")
class AdaptiveCaptioner(base.Captioner):
  Config = AdaptiveConfig

  def __init__(self, config: AdaptiveConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    e, h = config.embedding_size, config.hidden_size
    self.region_input = region_input.RegionInput(
      config.feature_size, config.num_labels, config.label_size, config.use_box, name="region_input"
    )
    inputs = self.region_input.size
    self.words = linear.embedding(config.vocabulary_size, e, name="words")
    self.encode_region = linear.dense(inputs, h, name="encode_region")
    self.encode_picture = linear.dense(config.global_size or inputs, h, name="encode_picture")
    self.lstm = recurrent.LSTMCell(h, inputs=(h, e), name="lstm")
    self.gate_picture = linear.dense(h, h, name="gate_picture")
    self.gate_word = linear.dense(e, h, name="gate_word")
    self.gate_state = linear.dense(h, h, name="gate_state")
    self.turn_state = linear.dense(h, h, name="turn_state")
    self.turn_sentinel = linear.dense(h, h, name="turn_sentinel")
    self.attention_region = linear.dense(h, h, name="attention_region")
    self.attention_state = linear.dense(h, h, name="attention_state")
    self.attention_sentinel = linear.dense(h, h, name="attention_sentinel")
    self.attention_score = linear.dense(h, 1, name="attention_score")
    self.mix = linear.dense(h, h, name="mix")
    self.word_output = linear.dense(h, config.vocabulary_size, name="word_output")

  def encode(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Memory:
    rate, inputs = self.config.dropout, self.region_input(batch)
    regions = tf.nn.relu(self.encode_region(inputs))
    regions = dropout.dropout(regions, rate, seed, _REGION)
    overall = self.region_input.overall(batch, inputs, self.config.global_size)
    picture = tf.nn.relu(self.encode_picture(overall))
    picture = dropout.dropout(picture, rate, seed, _PICTURE)
    return {
      "regions": regions,
      "keys": self.attention_region(regions),
      "gates": self.lstm.project(0, picture),
      "sentinel_gate": self.gate_picture(picture),
      "region_mask": batch["region_mask"],
      "boxes": batch["boxes"],
    }

  def initial_state(self, memory: base.Memory) -> base.State:
    zeros = tf.zeros([tf.shape(memory["gates"])[0], self.config.hidden_size])
    return {"h": zeros, "c": zeros}

  def step(self, memory, state, token, seed=None) -> dict[str, Any]:
    def drop(x, salt):
      return dropout.dropout(x[0], self.config.dropout, seed, salt)[tf.newaxis]

    words = drop(tf.nn.relu(self.words(token))[tf.newaxis], _WORD)  # [1, B, E]
    known = _spread(memory["gates"], self.lstm.project(1, words))
    h, c = self.lstm(known[0], [], state["h"], state["c"])
    outputs = self._attend(memory, words, *(x[tf.newaxis] for x in (state["h"], h, c)), drop)
    outputs = {name: x[0] for name, x in outputs.items()}
    return {
      "logits": self.word_logits(outputs["hidden"]),
      "attention": outputs["attention"][:, tf.newaxis],
      "sentinel": outputs["sentinel"],
      "state": {"h": h, "c": c},
    }

  def teacher_force(
    self, memory, tokens, seed=None, scheduled_sampling=None, extras=()
  ) -> dict[str, tf.Tensor]:
    """As in the contract; also `sentinel` [B, T]."""
    base.refuse_options(self, scheduled_sampling, extras)

    def drop(x, salt):
      return recurrent.stepwise_dropout(x, self.config.dropout, seed, salt)

    previous = tf.transpose(base.words_before(tokens))  # [T, B]
    words = drop(tf.nn.relu(self.words(previous)), _WORD)
    known = _spread(memory["gates"], self.lstm.project(1, words))
    zeros = tf.zeros([tf.shape(tokens)[0], self.config.hidden_size])

    def step(state, _, multiply):
      h, c = recurrent.activate(multiply("lstm", state[0]), state[1])
      return (h, c), (h, c)

    products = {"lstm": self.lstm.product(known)}
    h, c = unrolling.unroll(step, (), (zeros, zeros), 2, products)  # [T, B, H]
    before = tf.concat([zeros[tf.newaxis], h[:-1]], 0)
    outputs = self._attend(memory, words, before, h, c, drop)
    outputs = {
      name: tf.transpose(x, [1, 0, *range(2, x.shape.rank)]) for name, x in outputs.items()
    }
    hidden = outputs["hidden"][:, :, tf.newaxis]
    return {
      "logits": self.word_logits(outputs["hidden"]),
      "hidden": hidden,
      "attention": outputs["attention"][:, :, tf.newaxis],
      "winners": tf.ones(tf.shape(hidden)[:3], tf.bool),
      "sentinel": outputs["sentinel"],
    }

  def _attend(self, memory, words, before, h, c, drop: Drop) -> dict[str, tf.Tensor]:
    """Sentinel, attention and output of all steps: inputs lead with [T, B]."""
    gate = _spread(memory["sentinel_gate"], self.gate_word(words)) + self.gate_state(before)
    sentinel = tf.sigmoid(gate) * tf.tanh(c)
    h = drop(tf.tanh(self.turn_state(drop(h, _STATE))), _STATE_2)
    sentinel = drop(tf.nn.relu(self.turn_sentinel(drop(sentinel, _SENTINEL))), _SENTINEL_2)

    steps, size = tf.shape(h)[0], self.config.hidden_size
    pictures, regions = tf.shape(memory["keys"])[0], tf.shape(memory["keys"])[1]
    shape = [steps, pictures, -1, 1, size]
    keys = tf.reshape(self.attention_sentinel(sentinel), shape)
    grid = tf.broadcast_to(
      memory["keys"][:, tf.newaxis],
      [steps, pictures, tf.shape(keys)[2], regions, size],
    )
    keys = tf.concat([keys, grid], 3) + tf.reshape(self.attention_state(h), shape)
    scores = self.attention_score(drop(tf.tanh(keys), _SCORE))[..., 0]  # [T, I, n, 1 + R]
    real = tf.pad(memory["region_mask"], [[0, 0], [1, 0]], constant_values=True)[:, tf.newaxis]
    weights = masking.masked_softmax(scores, real)
    context = tf.einsum("tinr,irh->tinh", weights[..., 1:], memory["regions"])
    context += weights[..., :1] * tf.reshape(sentinel, [steps, pictures, -1, size])
    mixed = tf.reshape(context, tf.shape(h)) + h
    rows = tf.shape(h)[1]
    attention = masking.masked_softmax(scores[..., 1:], real[..., 1:])
    return {
      "hidden": drop(tf.tanh(self.mix(mixed)), _OUTPUT),
      "attention": tf.reshape(attention, [steps, rows, regions]),
      "sentinel": tf.reshape(weights[..., 0], [steps, rows]),
    }


def _spread(of_pictures: tf.Tensor, of_words: tf.Tensor) -> tf.Tensor:
  """Adds [I, X] to the n sequences of each picture in [T, I * n, X]."""
  shape, size = tf.shape(of_words), of_words.shape[-1]
  split = tf.reshape(of_words, [shape[0], tf.shape(of_pictures)[0], -1, size])
  return tf.reshape(split + of_pictures[:, tf.newaxis], shape)
