"""Neuraltalk2 (Karpathy & Fei-Fei, CVPR 2015, arXiv:1412.2306; Show and Tell's decoder).

    x_0 = ReLU(W v)      the picture as the first word; its output is not used
    h_t = LSTM(Emb[w_(t-1)])      log p = log_softmax(W_o Drop(h_t))

It has no attention. The contract's attention is uniform over all real regions, so that tools
which read attention work with it, too.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.captioners import base
from gcap_tf.layers import dropout, linear, masking, recurrent, region_input, unrolling

_OUTPUT = 0


@dataclasses.dataclass(frozen=True)
class Neuraltalk2Config(base.CaptionerConfig):
  """Options of Neuraltalk2.

  Attributes:
    embedding_size: E.
    hidden_size: H.
    dropout: rate at the output.
  """

  embedding_size: configs.PositiveInt = 512
  hidden_size: configs.PositiveInt = 512
  dropout: configs.Fraction = 0.5


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("neuraltalk2")
class Neuraltalk2Captioner(base.Captioner):
  Config = Neuraltalk2Config

  def __init__(self, config: Neuraltalk2Config, **kwargs: Any):
    super().__init__(config, **kwargs)
    self.region_input = region_input.RegionInput(
      config.feature_size, config.num_labels, config.label_size, config.use_box, name="region_input"
    )
    self.words = linear.embedding(config.vocabulary_size, config.embedding_size, name="words")
    self.encode_picture = linear.dense(
      config.global_size or self.region_input.size, config.embedding_size, name="encode_picture"
    )
    self.lstm = recurrent.LSTMCell(config.hidden_size, inputs=(config.embedding_size,), name="lstm")
    self.word_output = linear.dense(config.hidden_size, config.vocabulary_size, name="word_output")

  def encode(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Memory:
    overall = self.region_input.overall(batch, self.region_input(batch), self.config.global_size)
    picture = tf.nn.relu(self.encode_picture(overall))
    zeros = tf.zeros([tf.shape(overall)[0], self.config.hidden_size])
    h, c = self.lstm(self.lstm.project(0, picture), [], zeros, zeros)
    mask = batch["region_mask"]
    even = masking.masked_softmax(tf.zeros(tf.shape(mask)), mask)
    return {"h": h, "c": c, "even": even, "region_mask": mask, "boxes": batch["boxes"]}

  def initial_state(self, memory: base.Memory) -> base.State:
    return {"h": memory["h"], "c": memory["c"]}

  def step(self, memory, state, token, seed=None) -> dict[str, Any]:
    h, c = self.lstm(self.lstm.project(0, self.words(token)), [], state["h"], state["c"])
    times = tf.shape(token)[0] // tf.shape(memory["even"])[0]
    return {
      "logits": self.word_logits(dropout.dropout(h, self.config.dropout, seed, _OUTPUT)),
      "attention": tf.repeat(memory["even"], times, axis=0)[:, tf.newaxis],
      "state": {"h": h, "c": c},
    }

  def teacher_force(
    self, memory, tokens, seed=None, scheduled_sampling=None, extras=()
  ) -> dict[str, tf.Tensor]:
    base.refuse_options(self, scheduled_sampling, extras)
    previous = tf.transpose(base.words_before(tokens))  # [T, B]
    rows, steps = tf.shape(tokens)[0], tf.shape(tokens)[1]
    times = rows // tf.shape(memory["h"])[0]

    def step(state, _, multiply):
      h, c = recurrent.activate(multiply("lstm", state[0]), state[1])
      return (h, c), (h,)

    start = tf.repeat(memory["h"], times, axis=0), tf.repeat(memory["c"], times, axis=0)
    products = {"lstm": self.lstm.product(self.lstm.project(0, self.words(previous)))}
    (h,) = unrolling.unroll(step, (), start, 1, products)
    h = recurrent.stepwise_dropout(h, self.config.dropout, seed, _OUTPUT)
    hidden = tf.transpose(h, [1, 0, 2])
    even = tf.repeat(memory["even"], times, axis=0)[:, tf.newaxis, tf.newaxis]  # [B, 1, 1, R]
    return {
      "logits": self.word_logits(hidden),
      "hidden": hidden[:, :, tf.newaxis],
      "attention": tf.tile(even, [1, steps, 1, 1]),
      "winners": tf.ones([rows, steps, 1], tf.bool),
    }
