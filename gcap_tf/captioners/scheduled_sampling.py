"""Scheduled sampling (Bengio et al., NeurIPS 2015, arXiv:1506.03099): now and then a model
in training reads its own word instead of the caption's.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.layers import dropout


def stepper(
  speak: Callable[..., dict[str, Any]],
  chance: tf.Tensor,
  seed: tf.Tensor | None,
  salts: tuple[int, int],
  names: tuple[str, ...],
) -> Callable[..., tuple[base.State, tuple[tf.Tensor, ...]]]:
  """A step for `recurrent.unroll`.

  The state holds `drawn` [B], a word drawn from the distribution of the step before (without
  gradient), beside the captioner's own; inputs are the caption's words [T, B] and t [T].

  Args:
    speak: `Captioner.stepper(memory)`.
    chance: that a word after the first is replaced by the one drawn.
    seed: of this training step.
    salts: of the coin and of the draw.
    names: outputs of `speak` to give out.
  """
  if seed is None:
    raise ValueError("scheduled sampling draws words: pass a seed")
  coin_salt, draw_salt = salts

  def step(state, inputs, _):
    gold, t = inputs
    now = dropout.derive(seed, t)
    coin = tf.random.stateless_uniform(tf.shape(gold), dropout.derive(now, coin_salt))
    token = tf.where((t > 0) & (coin < chance), state["drawn"], gold)
    spoken = {name: x for name, x in state.items() if name != "drawn"}
    outputs = speak(spoken, token, now)
    logits = tf.stop_gradient(outputs["logits"])
    drawn = tf.random.stateless_categorical(logits, 1, dropout.derive(now, draw_salt), tf.int32)
    state = {**outputs["state"], "drawn": drawn[:, 0]}
    return state, tuple(outputs[name] for name in names)

  return step
