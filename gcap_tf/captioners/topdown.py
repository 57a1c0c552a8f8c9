"""The skeleton of captioners with two LSTMs and an attention between them.

    (h1, c1) = LSTM1([h2; v; x_t])        the attention LSTM: v the picture, x_t the word before
    α^k      = attention of branch k over regions, asked by h1
    (h2^k, c2^k) = LSTM2([Σ_i α^k_i v_i; h1])    the language LSTM, one stream per branch
    p^k      = softmax(W_o h2^k)

Up-Down (`updown.py`) and GVD (`gvd.py`) say how a picture becomes a memory. Two ideas plug
into either: several branches (`branches.py`, `distributed.py`) and a localiser that
reconstructs a caption from what its words point at (`localizer.py`, `cyclical.py`).

A memory holds `regions` [I, R, H], `keys` [I, K, R, A], `gates` [I, 4H] (the picture's share
of LSTM1's gates), `region_mask` [I, R], `boxes` [I, R, 4]; subclasses may add to it.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gcap_tf.captioners import base, branches, localizer, scheduled_sampling, topdown_config
from gcap_tf.layers import (
  additive_attention,
  dropout,
  linear,
  naming,
  product,
  recurrent,
  region_input,
)

_WORDS, _OUTPUT, _COIN, _DRAW, _LOCALIZED, _REBUILT, _DEEP = range(1, 8)
PICTURE_SALT = 100  # Subclasses number their own dropout places from here.


class TopDownCaptioner(base.Captioner):
  """Everything but `encode`."""

  Config = topdown_config.TopDownConfig

  def __init__(self, config: topdown_config.TopDownConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    hidden = config.hidden_size
    maps = branches.score_maps(config.branches, config.heads, hidden)
    self.region_input = region_input.RegionInput(
      config.feature_size,
      config.num_labels,
      config.label_size,
      config.use_box,
      name="region_input",
    )
    self.words = linear.Table(config.vocabulary_size, config.embedding_size, name="words")
    self.attention_lstm = recurrent.LSTMCell(
      hidden,
      inputs=(hidden, config.embedding_size),
      stepped=hidden if config.feedback else 0,
      name="attention_lstm",
    )
    self.region_attention = additive_attention.AdditiveAttention(
      hidden, hidden, config.attention_size, maps, name="region_attention"
    )
    if config.heads > 1:
      self.head_output = linear.Linear(hidden, hidden, name="head_output")
    self.language_lstm = recurrent.LSTMCell(hidden, stepped=2 * hidden, name="language_lstm")
    self.deep_output = [
      linear.Linear(hidden, hidden, name=f"deep_output_{n}")
      for n in range(config.output_layers - 1)
    ]
    self.word_output = linear.Linear(hidden, config.vocabulary_size, name="word_output")
    self.naming = None
    if config.naming:
      self.naming = naming.Naming(hidden, config.label_words, config.num_labels, name="naming")
    self.localizer = localizer.make(
      config.localizer, config.embedding_size, hidden, config.attention_size
    )
    self.built = True

  def initial_state(self, memory: base.Memory) -> base.State:
    rows, hidden = tf.shape(memory["gates"])[0], self.config.hidden_size
    return self._zero_state(rows, self._streams, hidden)

  def step(
    self,
    memory: base.Memory,
    state: base.State,
    token: tf.Tensor,
    seed: tf.Tensor | None = None,
  ) -> dict[str, Any]:
    return self.stepper(memory)(state, token, seed)

  def stepper(self, memory: base.Memory) -> Callable[..., dict[str, Any]]:
    kernels = {name: product.with_kernel(kernel) for name, kernel in self._kernels().items()}
    biases, project = self._biases(), self.attention_lstm.projector(1)

    def step(state, token, seed=None):
      rate = self.config.dropout
      words = dropout.dropout(tf.nn.relu(self.words(token)), rate, seed, _WORDS)
      added = biases | {"listen": biases["listen"] + self._known(memory, project(words))}
      multiply = recurrent.multiply(kernels, added)
      state, outputs = self._attend_and_speak(memory, state, multiply)
      hidden = self._deepen(outputs["hidden"], lambda x, salt: dropout.dropout(x, rate, seed, salt))
      hidden = self._name(memory, hidden, outputs)
      branch_logits = self.word_logits(hidden)  # [B, K, V]
      return {
        "logits": branches.mixture(branch_logits),
        "branch_logits": branch_logits,
        "attention": outputs["attention"],
        **{name: outputs[name] for name in ("hidden", "scores", "query")},
        "state": state,
      }

    return step

  def teacher_force(
    self,
    memory: base.Memory,
    tokens: tf.Tensor,
    seed: tf.Tensor | None = None,
    sampling: tf.Tensor | None = None,
    extras: tuple[str, ...] = (),
  ) -> dict[str, tf.Tensor]:
    """Runs over given captions.

    Args:
      memory, tokens, seed: as in the contract.
      sampling: scheduled sampling: the chance that a word after the first is replaced by a
        draw from the distribution before it (needs `seed`).
      extras: of "query" (h1) and "scores" (before the softmax), what else to give out.

    Returns:
      `logits` [B, T, V], `branch_logits` [B, T, K, V], `attention` [B, T, K, R], `hidden`
      [B, T, K, H] (what `word_logits` takes), `winners` [B, T, K]; and `query` [B, T, H],
      `scores` [B, T, K, R] where asked for.
    """
    previous = tf.transpose(_shift(tokens))  # [T, B]
    state = self._zero_state(tf.shape(tokens)[0], self._streams, self.config.hidden_size)
    names = ("hidden", "attention", *extras)
    if sampling is None:
      words = self._embed_all(previous, seed)
      known = self._known(memory, self.attention_lstm.project(1, words))
      products = self._products(known, self.config.branches)

      def step(state, _, multiply):
        state, outputs = self._attend_and_speak(memory, state, multiply)
        return state, tuple(outputs[name] for name in names)

      stacked = recurrent.unroll(step, (), state, len(names), products)
    else:
      step = scheduled_sampling.stepper(self.stepper(memory), sampling, seed, (_COIN, _DRAW), names)
      inputs = (previous, tf.range(tf.shape(previous)[0]))
      state = {**state, "drawn": tf.zeros_like(previous[0])}
      stacked = recurrent.unroll(step, inputs, state, len(names))
    outputs = dict(zip(names, stacked, strict=True))
    return self._speak_all(outputs, tokens, seed, memory)

  def reconstruct(
    self,
    memory: base.Memory,
    tokens: tf.Tensor,
    words: tf.Tensor,
    seed: tf.Tensor | None = None,
    query: tf.Tensor | None = None,
    keep: tf.Tensor | None = None,
  ) -> dict[str, tf.Tensor]:
    """Localises `words` and rebuilds the caption from what they point at.

    Cyclical training (Ma et al., ECCV 2020): the attention plays no part here; the context
    of step t is what the localiser finds for word t.

    Args:
      memory: of I pictures.
      tokens: the caption to rebuild, [B, T].
      words: the words to localise, [B, T]; integers, so no gradient passes.
      seed: of this training step, or None.
      query: h1 of the decoding pass [B, T, H], for `localizer="hidden"`.
      keep: bool [B, T]; the context is 0 where false (zero representation).

    Returns:
      `logits` [B, T, V], `hidden` [B, T, 1, H], `attention` [B, T, 1, R] of the localiser.
    """
    salted = None if seed is None else dropout.derive(seed, _LOCALIZED)
    embedded = self._embed_all(tf.transpose(words), salted)  # [T, B, E]
    if query is not None:
      query = tf.transpose(query, [1, 0, 2])
    context, attention = self._localize(memory, self.localizer(embedded, query))
    if keep is not None:
      weight = tf.cast(tf.transpose(keep), tf.float32)[..., tf.newaxis]
      context, attention = context * weight, attention * weight
    salted = None if seed is None else dropout.derive(seed, _REBUILT)
    words = self._embed_all(tf.transpose(_shift(tokens)), salted)
    known = self._known(memory, self.attention_lstm.project(1, words))
    products = self._products(known, streams=1)

    def step(state, context, multiply):
      h1, state = self._listen(state, multiply)
      hidden, state = self._speak(state, context[:, tf.newaxis], h1, multiply)
      return state, (hidden,)

    state = self._zero_state(tf.shape(tokens)[0], 1, self.config.hidden_size)
    spoken = {name: products[name] for name in ("listen", "speak")}
    (hidden,) = recurrent.unroll(step, context, state, 1, spoken)
    outputs = {"hidden": hidden, "attention": attention[:, :, tf.newaxis]}
    return self._speak_all(outputs, tokens, salted)

  def word_logits(self, hidden: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
    """Scores of words for `hidden` of `teacher_force`: [..., H] -> [..., V].

    All dropout is in `hidden` already, so rows of padding may be left out.
    """
    del seed
    return self.word_output(hidden)

  def _deepen(self, hidden: tf.Tensor, drop: Callable[[tf.Tensor, int], tf.Tensor]) -> tf.Tensor:
    """h2 after dropout and all layers but the last of the output: [..., H] -> [..., H]."""
    hidden = drop(hidden, _OUTPUT)
    for n, layer in enumerate(self.deep_output):
      hidden = drop(tf.nn.relu(layer(hidden)), _DEEP + n)
    return hidden

  def _names(self, batch: base.Batch) -> base.Memory:
    """What `encode` adds to the memory where regions name themselves."""
    if self.naming is None:
      return {}
    return {"names": self.naming.names(batch["region_labels"], self.word_output.kernel)}

  def _name(self, memory: base.Memory, deep: tf.Tensor, outputs) -> tf.Tensor:
    """What the words are scored from, [B, ..., H], the names of attended regions added."""
    if self.naming is None:
      return deep
    return deep + self.naming(memory["names"], outputs["attention"], outputs["hidden"])

  def _attend(
    self, memory: base.Memory, query: tf.Tensor, multiply: recurrent.Multiply
  ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Scores and attention [I, n, K, R] and contexts [B, K, H] for h1 [B, H]."""
    scores = self.region_attention.scores(memory["keys"], multiply("ask", query))
    if self.config.heads > 1:
      scores, weights, context = branches.join_heads(
        scores, memory["region_mask"], memory["regions"]
      )
      return scores, weights, self.head_output(context)
    weights = branches.attention_weights(
      scores, memory["region_mask"][:, tf.newaxis], self.config.elimination
    )
    return scores, weights, additive_attention.attend(weights, memory["regions"])

  def _localize(self, memory: base.Memory, query: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Contexts [T, B, H] and attention [T, B, R] for localiser queries [T, B, A]."""
    return localizer.localize(query, memory["keys"][:, 0], memory["regions"], memory["region_mask"])

  @property
  def _streams(self) -> int:
    return self.config.branches if self.config.streams == "independent" else 1

  def _zero_state(self, rows: tf.Tensor, streams: int, hidden: int) -> base.State:
    one, many = tf.zeros([rows, hidden]), tf.zeros([rows, streams, hidden])
    return {"h1": one, "c1": one, "h2": many, "c2": many}

  def _known(self, memory: base.Memory, words: tf.Tensor) -> tf.Tensor:
    """Adds the picture's share of LSTM1's gates to that of the words, [..., B, 4H]."""
    shape = tf.shape(words)
    pictures, size = tf.shape(memory["gates"])[0], words.shape[-1]
    words = tf.reshape(words, tf.concat([shape[:-2], [pictures, -1, size]], 0))
    return tf.reshape(words + memory["gates"][:, tf.newaxis], shape)

  def _kernels(self) -> dict[str, tf.Tensor]:
    """What a step multiplies by: LSTM1, the attention's query, LSTM2."""
    return {
      "listen": self.attention_lstm.step_kernel,
      "ask": self.region_attention.query_map.kernel,
      "speak": self.language_lstm.step_kernel,
    }

  def _biases(self) -> dict[str, tf.Tensor]:
    return {
      "listen": self.attention_lstm.bias,
      "ask": self.region_attention.query_map.bias,
      "speak": self.language_lstm.bias,
    }

  def _products(self, known: tf.Tensor, streams: int) -> dict[str, recurrent.Product]:
    """The products of a loop over words.

    Args:
      known: [T, B, 4H].
      streams: of the language LSTM.
    """
    kernels, biases = self._kernels(), self._biases()
    added = {
      "listen": known + biases["listen"],
      "ask": recurrent.spread(biases["ask"], known),
      "speak": recurrent.spread(biases["speak"], known, streams),
    }
    return {name: (kernels[name], added[name]) for name in kernels}

  def _embed_all(self, tokens: tf.Tensor, seed: tf.Tensor | None) -> tf.Tensor:
    """Words of all steps, [T, B] -> [T, B, E]."""
    words = tf.nn.relu(self.words(tokens))
    return recurrent.stepwise_dropout(words, self.config.dropout, seed, _WORDS)

  def _listen(
    self, state: base.State, multiply: recurrent.Multiply
  ) -> tuple[tf.Tensor, base.State]:
    """LSTM1: h1 [B, H] and the state with it."""
    h2, factors = state["h2"], state["h1"]
    if self.config.feedback:
      mean = tf.squeeze(h2, 1) if h2.shape[1] == 1 else tf.reduce_mean(h2, 1)
      factors = tf.concat([mean, factors], -1)
    h1, c1 = recurrent.activate(multiply("listen", factors), state["c1"])
    return h1, {**state, "h1": h1, "c1": c1}

  def _speak(
    self, state: base.State, context: tf.Tensor, h1: tf.Tensor, multiply: recurrent.Multiply
  ) -> tuple[tf.Tensor, base.State]:
    """LSTM2, the K streams folded into the batch: h2 [B, K, H] and the state with it."""
    count, size = context.shape[1], self.config.hidden_size

    def fold(x):
      if x.shape[1] != count:
        x = tf.broadcast_to(x, tf.shape(context))
      return tf.reshape(x, [-1, size])

    factors = tf.concat([fold(context), fold(h1[:, tf.newaxis]), fold(state["h2"])], -1)
    h2, c2 = recurrent.activate(multiply("speak", factors), fold(state["c2"]))
    h2, c2 = tf.reshape(h2, [-1, count, size]), tf.reshape(c2, [-1, count, size])
    return h2, {**state, "h2": self._merge(h2), "c2": self._merge(c2)}

  def _merge(self, streams: tf.Tensor) -> tf.Tensor:
    if self.config.streams == "first":
      return streams[:, :1]
    if self.config.streams == "mean":
      return tf.reduce_mean(streams, 1, keepdims=True)
    return streams

  def _attend_and_speak(
    self, memory: base.Memory, state: base.State, multiply: recurrent.Multiply
  ) -> tuple[base.State, dict[str, tf.Tensor]]:
    before = state["h1"]
    h1, state = self._listen(state, multiply)
    query = h1 if self.config.query == "current" else before
    scores, weights, context = self._attend(memory, query, multiply)
    hidden, state = self._speak(state, context, h1, multiply)
    shape = [-1, self.config.branches, tf.shape(weights)[-1]]
    return state, {
      "hidden": hidden,
      "attention": tf.reshape(weights, shape),
      "scores": tf.reshape(scores, shape),
      "query": h1,
    }

  def _speak_all(self, outputs, tokens, seed, memory=None):
    """Turns time-major loop outputs into what `teacher_force` gives.

    Regions of `memory`, where given, may name themselves.
    """
    deep = self._deepen(
      outputs["hidden"],
      lambda x, salt: recurrent.stepwise_dropout(x, self.config.dropout, seed, salt),
    )
    outputs = {
      name: tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
      for name, x in {**outputs, "deep": deep}.items()
    }
    deep = outputs.pop("deep")
    outputs["hidden"] = self._name(memory, deep, outputs) if memory else deep
    branch_logits = self.word_logits(outputs["hidden"])
    return {
      **outputs,
      "logits": branches.mixture(branch_logits),
      "branch_logits": branch_logits,
      "winners": branches.winners(branch_logits, tokens),
    }


def _shift(tokens: tf.Tensor) -> tf.Tensor:
  """The word before each word, 0 before the first: [B, T]."""
  return tf.pad(tokens[:, :-1], [[0, 0], [1, 0]])
