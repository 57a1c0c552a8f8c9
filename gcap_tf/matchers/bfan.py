"""BFAN: Focus Your Attention, a bidirectional focal network (Liu et al., ACM MM 2019).

SCAN's attention in both directions, with the attention to irrelevant keys set to 0:

    F_i = sum_j (x_i - x_j) g(x_j),   H_i = [F_i > 0]
    x~_i = H_i x_i / sum_j H_j x_j
    S    = mean_t R(e_t, a~_t) + mean_r R(v_r, a~_r)

"equal": g = 1, so a key stays if x_i > mean(x). "prob": g(x) = sqrt(x), so it stays
if x_i > sum(x^1.5) / sum(x^0.5); "prob" keeps a subset of the keys that "equal" keeps.
Neither condition depends on the scale of x, so both work on energies.
"""

import dataclasses
from typing import Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.layers import cross_attention
from gcap_tf.matchers import attention, base

Focus = Literal["equal", "prob"]


@dataclasses.dataclass(frozen=True)
class BFANConfig(attention.EncoderConfig):
  """Options of BFAN.

  Attributes:
    focus: which keys count as relevant; see the module.
    lambda_softmax: inverse temperature of the attention in both directions.
  """

  focus: Focus = "prob"
  lambda_softmax: configs.Positive = 20.0


@base.MATCHERS.register("bfan")
@keras.saving.register_keras_serializable(package="gcap_tf")
class BFANMatcher(attention.RelevanceMatcher):
  """Padding words and regions change neither attention, thresholds nor scores."""

  Config = BFANConfig
  captions_as_ids = True
  directions = ("t2i", "i2t")

  def energies(
    self, direction: attention.Direction, affinities: cross_attention.Affinities
  ) -> tf.Tensor:
    energies = cross_attention.energies(affinities, "clipped_l2norm", self.config.lambda_softmax)
    return refocus(energies, affinities.key_mask, self.config.focus)

  def score(
    self,
    direction: attention.Direction,
    affinities: cross_attention.Affinities,
    energies: tf.Tensor,
  ) -> tf.Tensor:
    relevance = cross_attention.relevance(affinities, energies)
    return cross_attention.aggregate(relevance, affinities.scored_mask, "mean")


def refocus(energies: tf.Tensor, key_mask: tf.Tensor, focus: Focus) -> tf.Tensor:
  """H x: energies of irrelevant keys set to 0, [X, N, M, Y].

  H is a constant for gradients. Departure: if no key is above the threshold (one key, or
  exact ties), the released code divides 0 by 0; here the attention stays unchanged.
  """
  if focus == "equal":
    count = tf.reduce_sum(tf.cast(key_mask, energies.dtype), 1, keepdims=True)
    threshold = tf.math.divide_no_nan(tf.reduce_sum(energies, 1, keepdims=True), count)
  else:
    root = tf.sqrt(tf.stop_gradient(energies))
    threshold = tf.math.divide_no_nan(
      tf.reduce_sum(energies * root, 1, keepdims=True), tf.reduce_sum(root, 1, keepdims=True)
    )
  relevant = energies > threshold
  lost = ~tf.reduce_any(relevant, 1, keepdims=True)
  return tf.where(relevant | lost, energies, tf.zeros_like(energies))
