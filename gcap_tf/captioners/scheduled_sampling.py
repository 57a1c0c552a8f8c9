"""Scheduled sampling (Bengio et al., NeurIPS 2015, arXiv:1506.03099): with some chance, a model
in training reads its own word instead of the caption's.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.layers import dropout, unrolling


def unroll(
  step: Callable[..., dict[str, Any]],
  previous: tf.Tensor,
  state: base.State,
  names: tuple[str, ...],
  chance: tf.Tensor,
  seed: tf.Tensor | None,
  salts: tuple[int, int],
) -> tuple[tf.Tensor, ...]:
  """Runs over captions, words replaced by draws from the distribution of the step before.

  No gradient passes through a draw.

  Args:
    step: `Captioner.stepper(memory)`.
    previous: the caption's words, each the one before the word to emit, [T, B].
    state: before the first word.
    names: outputs of `step` to return.
    chance: that a word after the first is replaced.
    seed: of this training step.
    salts: of the coin and of the draw.

  Returns:
    The named outputs, each leading with [T, B].
  """
  if seed is None:
    raise ValueError("scheduled sampling draws words: pass a seed")
  coin_salt, draw_salt = salts

  def read_word(state, inputs, _):
    gold, t = inputs
    now = dropout.derive(seed, t)
    coin = tf.random.stateless_uniform(tf.shape(gold), dropout.derive(now, coin_salt))
    token = tf.where((t > 0) & (coin < chance), state["drawn"], gold)
    outputs = step({name: x for name, x in state.items() if name != "drawn"}, token, now)
    logits = tf.stop_gradient(outputs["logits"])
    drawn = tf.random.stateless_categorical(logits, 1, dropout.derive(now, draw_salt), tf.int32)
    state = {**outputs["state"], "drawn": drawn[:, 0]}
    return state, tuple(outputs[name] for name in names)

  inputs = (previous, tf.range(tf.shape(previous)[0]))
  state = {**state, "drawn": tf.zeros_like(previous[0])}
  return unrolling.unroll(read_word, inputs, state, len(names))
