"""A caption rebuilt from the regions that its words point at (Cyclical, Ma et al., ECCV 2020).

    β_t = localiser(word t, regions)       h2_t = LSTM2([Σ_i β_{t,i} v_i; h1_t])

The cell is the decoder's own; the localiser's regions take the place of its attention.
"""

import tensorflow as tf

from gcap_tf.captioners import base, localizer, two_lstm_cell
from gcap_tf.layers import dropout, unrolling

_LOCALIZED, _REBUILT = 5, 6  # Places that draw random numbers, besides those of `topdown.py`.


class Reconstruction:
  """The localiser's part of a `TopDownCaptioner`, whose attribute `localizer` may be None."""

  @property
  def has_localizer(self) -> bool:
    return self.localizer is not None

  @property
  def reconstruction_needs(self) -> tuple[str, ...]:
    return ("query",) if self.config.localizer == "hidden" else ()

  def reconstruct(
    self,
    memory: base.Memory,
    tokens: tf.Tensor,
    words: tf.Tensor,
    seed: tf.Tensor | None = None,
    query: tf.Tensor | None = None,
    keep: tf.Tensor | None = None,
  ) -> dict[str, tf.Tensor]:
    contexts, attention = self._find_words(memory, words, seed, query)
    if keep is not None:
      weight = tf.cast(tf.transpose(keep), tf.float32)[..., tf.newaxis]
      contexts, attention = contexts * weight, attention * weight
    salted = None if seed is None else dropout.derive(seed, _REBUILT)
    embedded = self._embed_all(tf.transpose(base.words_before(tokens)), salted)
    products = self._products(memory, embedded)
    del products[two_lstm_cell.ATTENTION_QUERY]

    def step(state, context, multiply):
      found = {"context": context[:, tf.newaxis]}
      state, outputs = self._cell(state, lambda *_: found, multiply)
      return state, (outputs["hidden"],)

    state = self._cell.zero_state(tf.shape(tokens)[0], streams=1)
    (hidden,) = unrolling.unroll(step, contexts, state, 1, products)
    outputs = {"hidden": hidden, "attention": attention[:, :, tf.newaxis]}
    return self._outputs(outputs, tokens, salted)

  def _find_words(self, memory, words, seed, query) -> tuple[tf.Tensor, tf.Tensor]:
    """Contexts [T, B, H] and attention [T, B, R] of the localiser for words [B, T]."""
    salted = None if seed is None else dropout.derive(seed, _LOCALIZED)
    embedded = self._embed_all(tf.transpose(words), salted)  # [T, B, E]
    if query is not None:
      query = tf.transpose(query, [1, 0, 2])
    return self._localize(memory, self.localizer(embedded, query))

  def _localize(self, memory: base.Memory, query: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Contexts [T, B, H] and attention [T, B, R] for localiser queries [T, B, A]."""
    return localizer.localize(query, memory["keys"][:, 0], memory["regions"], memory["region_mask"])
