"""The family of captioners with two LSTMs and an attention between them.

`two_lstm_cell.py` has the equations of one word. Up-Down (`updown.py`) and GVD (`gvd.py`) turn
a picture into a memory. Two ideas plug into either: several branches (`branches.py`,
`distributed.py`) and a localiser that rebuilds a caption from what its words point at
(`localizer.py`, `reconstruction.py`, `cyclical.py`).

A memory holds `regions` [I, R, H], `keys` [I, K, R, A], `gates` [I, 4H] (the picture's share
of LSTM1's gates), `region_mask` [I, R], `boxes` [I, R, 4]; subclasses may add to it.
"""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gcap_tf.captioners import (
  base,
  branches,
  localizer,
  reconstruction,
  scheduled_sampling,
  topdown_config,
  two_lstm_cell,
)
from gcap_tf.layers import (
  additive_attention,
  dropout,
  linear,
  naming,
  recurrent,
  region_input,
  unrolling,
)

# Places that draw random numbers; 5 and 6 are those of `reconstruction.py`.
_WORDS, _OUTPUT, _COIN, _DRAW, _DEEP = 1, 2, 3, 4, 7
PICTURE_SALT = 100  # Subclasses number their own dropout places from here.


class TopDownCaptioner(reconstruction.Reconstruction, base.Captioner):
  """Everything but `encode`."""

  Config = topdown_config.TopDownConfig
  optional_outputs = ("query", "scores")
  takes_scheduled_sampling = True

  def __init__(self, config: topdown_config.TopDownConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    hidden, embedding = config.hidden_size, config.embedding_size
    maps = branches.score_maps(config.branches, config.heads, hidden)
    self.region_input = region_input.RegionInput(
      config.feature_size, config.num_labels, config.label_size, config.use_box, name="region_input"
    )
    self.words = linear.embedding(config.vocabulary_size, embedding, name="words")
    self.attention_lstm = recurrent.LSTMCell(
      hidden,
      inputs=(hidden, embedding),
      stepped=hidden if config.feedback else 0,
      name="attention_lstm",
    )
    self.region_attention = additive_attention.AdditiveAttention(
      hidden, hidden, config.attention_size, maps, name="region_attention"
    )
    if config.heads > 1:
      self.head_output = linear.dense(hidden, hidden, name="head_output")
    self.language_lstm = recurrent.LSTMCell(hidden, stepped=2 * hidden, name="language_lstm")
    self.deep_output = [
      linear.dense(hidden, hidden, name=f"deep_output_{n}") for n in range(config.output_layers - 1)
    ]
    self.word_output = linear.dense(hidden, config.vocabulary_size, name="word_output")
    self.naming = None
    if config.naming:
      self.naming = naming.Naming(
        hidden, config.label_words, config.num_labels, config.label_columns, name="naming"
      )
    self.localizer = localizer.make(config.localizer, embedding, hidden, config.attention_size)
    self._cell = two_lstm_cell.TwoLSTMCell(
      hidden, config.feedback, config.query, config.streams, config.branches
    )

  @property
  def branches(self) -> int:
    return self.config.branches

  def initial_state(self, memory: base.Memory) -> base.State:
    return self._cell.zero_state(tf.shape(memory["gates"])[0])

  def step(
    self, memory: base.Memory, state: base.State, token: tf.Tensor, seed: tf.Tensor | None = None
  ) -> dict[str, Any]:
    return self.stepper(memory)(state, token, seed)

  def stepper(self, memory: base.Memory) -> Callable[..., dict[str, Any]]:
    multiply_with = unrolling.prepare(self._products())
    project, attend = self.attention_lstm.projector(1), functools.partial(self._attend, memory)

    def step(state, token, seed=None):
      def drop(x, salt):
        return dropout.dropout(x, self.config.dropout, seed, salt)

      words = drop(tf.nn.relu(self.words(token)), _WORDS)
      gates = self._constant_gates(memory, project(words))
      multiply = multiply_with({two_lstm_cell.ATTENTION_LSTM: gates})
      state, outputs = self._cell(state, attend, multiply)
      hidden = self._output_layers(outputs["hidden"], drop)
      hidden = self._add_label_scores(memory, hidden, outputs)
      branch_logits = self.word_logits(hidden)  # [B, K, V]
      return {
        "logits": branches.mixture(branch_logits),
        "branch_logits": branch_logits,
        **{name: outputs[name] for name in ("attention", "hidden", "scores", "query")},
        "state": state,
      }

    return step

  def teacher_force(
    self,
    memory: base.Memory,
    tokens: tf.Tensor,
    seed: tf.Tensor | None = None,
    scheduled_sampling: tf.Tensor | None = None,
    extras: tuple[str, ...] = (),
  ) -> dict[str, tf.Tensor]:
    """As in the contract, and `branch_logits` [B, T, K, V].

    `extras` may name `query` (h1 [B, T, H]) and `scores` (before the softmax, [B, T, K, R]).
    """
    previous = tf.transpose(base.words_before(tokens))  # [T, B]
    state = self._cell.zero_state(tf.shape(tokens)[0])
    names = ("hidden", "attention", *extras)
    if scheduled_sampling is None:
      stacked = self._read_captions(memory, self._embed_all(previous, seed), state, names)
    else:
      stacked = self._read_own_words(memory, previous, state, names, scheduled_sampling, seed)
    outputs = dict(zip(names, stacked, strict=True))
    return self._outputs(outputs, tokens, seed, memory)

  def _read_captions(self, memory, words, state, names) -> tuple[tf.Tensor, ...]:
    """Outputs of the cell over given words [T, B, E], each leading with [T, B]."""
    attend = functools.partial(self._attend, memory)

    def step(state, _, multiply):
      state, outputs = self._cell(state, attend, multiply)
      return state, tuple(outputs[name] for name in names)

    products = self._products(memory, words, self.config.branches)
    return unrolling.unroll(step, (), state, len(names), products)

  def _read_own_words(self, memory, previous, state, names, chance, seed) -> tuple[tf.Tensor, ...]:
    """As `_read_captions`, with scheduled sampling."""
    salts = (_COIN, _DRAW)
    return scheduled_sampling.unroll(
      self.stepper(memory), previous, state, names, chance, seed, salts
    )

  def _products(
    self, memory: base.Memory | None = None, words: tf.Tensor | None = None, branches: int = 1
  ) -> dict[str, unrolling.Product]:
    """The three products of a step; with words [T, B, E], what they and the picture add."""
    known = None
    if words is not None:
      known = self._constant_gates(memory, self.attention_lstm.project(1, words))
    query = self.region_attention.query_map
    return {
      two_lstm_cell.ATTENTION_LSTM: self.attention_lstm.product(known),
      two_lstm_cell.ATTENTION_QUERY: unrolling.Product(query.kernel, query.bias),
      two_lstm_cell.LANGUAGE_LSTM: self.language_lstm.product(copies=branches),
    }

  def _constant_gates(self, memory: base.Memory, words: tf.Tensor) -> tf.Tensor:
    """The share of picture and words in LSTM1's gates, from that of the words [..., B, 4H]."""
    shape = tf.shape(words)
    pictures, size = tf.shape(memory["gates"])[0], words.shape[-1]
    words = tf.reshape(words, tf.concat([shape[:-2], [pictures, -1, size]], 0))
    return tf.reshape(words + memory["gates"][:, tf.newaxis], shape)

  def _embed_all(self, tokens: tf.Tensor, seed: tf.Tensor | None) -> tf.Tensor:
    """Words of all steps, [T, B] -> [T, B, E]."""
    words = tf.nn.relu(self.words(tokens))
    return recurrent.stepwise_dropout(words, self.config.dropout, seed, _WORDS)

  def _attend(
    self, memory: base.Memory, query: tf.Tensor, multiply: unrolling.Multiply
  ) -> dict[str, tf.Tensor]:
    """`scores` and `attention` [B, K, R] and `context` [B, K, H] for h1 [B, H]."""
    asked = multiply(two_lstm_cell.ATTENTION_QUERY, query)
    scores = self.region_attention.scores(memory["keys"], asked)  # [I, n, K, R]
    if self.config.heads > 1:
      scores, weights, context = branches.join_heads(
        scores, memory["region_mask"], memory["regions"]
      )
      context = self.head_output(context)
    else:
      weights = branches.attention_weights(
        scores, memory["region_mask"][:, tf.newaxis], self.config.elimination
      )
      context = additive_attention.attend(weights, memory["regions"])
    shape = [-1, self.config.branches, tf.shape(weights)[-1]]
    return {
      "scores": tf.reshape(scores, shape),
      "attention": tf.reshape(weights, shape),
      "context": context,
    }

  def _output_layers(self, hidden: tf.Tensor, drop: Callable[..., tf.Tensor]) -> tf.Tensor:
    """h2 after dropout and all output layers but the last: [..., H] -> [..., H]."""
    hidden = drop(hidden, _OUTPUT)
    for n, layer in enumerate(self.deep_output):
      hidden = drop(tf.nn.relu(layer(hidden)), _DEEP + n)
    return hidden

  def _label_rows(self, batch: base.Batch) -> base.Memory:
    """What `encode` adds to the memory if attended regions name their labels."""
    if self.naming is None:
      return {}
    return {"names": self.naming.names(batch, self.word_output.kernel)}

  def _add_label_scores(self, memory: base.Memory, hidden: tf.Tensor, outputs) -> tf.Tensor:
    """`hidden` [B, ..., H] with the labels of attended regions added."""
    if self.naming is None:
      return hidden
    return hidden + self.naming(memory["names"], outputs["attention"], outputs["hidden"])

  def _outputs(self, outputs, tokens, seed, memory=None) -> dict[str, tf.Tensor]:
    """What `teacher_force` returns, from time-major outputs of the cell.

    With `memory`, the labels of attended regions are added.
    """

    def drop(x, salt):
      return recurrent.stepwise_dropout(x, self.config.dropout, seed, salt)

    outputs = {**outputs, "deep": self._output_layers(outputs["hidden"], drop)}
    outputs = {
      name: tf.transpose(x, [1, 0, *range(2, x.shape.rank)]) for name, x in outputs.items()
    }
    hidden = outputs.pop("deep")
    outputs["hidden"] = self._add_label_scores(memory, hidden, outputs) if memory else hidden
    branch_logits = self.word_logits(outputs["hidden"])
    return {
      **outputs,
      "logits": branches.mixture(branch_logits),
      "branch_logits": branch_logits,
      "winners": branches.winners(branch_logits, tokens),
    }
