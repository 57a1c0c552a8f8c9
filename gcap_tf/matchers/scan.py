"""SCAN: Stacked Cross Attention for Image-Text Matching (Lee et al., ECCV 2018).

t2i: every word attends to regions, and the score of a pair is the mean agreement of words
with their attended regions. i2t: the same with the roles swapped. The equations are in
`layers/cross_attention.py`; the score is

    S(I, T) = AGG_q R(q, a_q)        (Eq. 6 of POS-SCAN for AGG = mean)
"""

import dataclasses

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.layers import cross_attention
from gcap_tf.matchers import attention, base

DEFAULT_LAMBDA = {"t2i": 9.0, "i2t": 4.0}


@dataclasses.dataclass(frozen=True)
class SCANConfig(attention.EncoderConfig):
  """Options of SCAN; the defaults are the released "t-i AVG" model.

  Attributes:
    direction: "t2i" if words attend to regions, "i2t" if regions attend to words.
    raw_norm: normalisation of affinities over the queries.
    aggregation: AGG.
    lambda_softmax: inverse temperature of the attention; None means 9 (t2i) or 4 (i2t).
    lambda_lse: inverse temperature of AGG = log_sum_exp.
  """

  direction: attention.Direction = "t2i"
  raw_norm: cross_attention.RawNorm = "clipped_l2norm"
  aggregation: cross_attention.Aggregation = "mean"
  lambda_softmax: configs.Positive | None = None
  lambda_lse: configs.Positive = 6.0


@base.MATCHERS.register("scan")
@keras.saving.register_keras_serializable(package="gcap_tf")
class SCANMatcher(attention.RelevanceMatcher):
  """Padding words and regions change neither attention, norms nor scores."""

  Config = SCANConfig

  @property
  def directions(self) -> tuple[attention.Direction, ...]:
    return (self.config.direction,)

  def energies(
    self, direction: attention.Direction, affinities: cross_attention.Affinities
  ) -> tf.Tensor:
    lambda_softmax = self.config.lambda_softmax or DEFAULT_LAMBDA[direction]
    return cross_attention.energies(affinities, self.config.raw_norm, lambda_softmax)

  def score(
    self,
    direction: attention.Direction,
    affinities: cross_attention.Affinities,
    energies: tf.Tensor,
  ) -> tf.Tensor:
    return self.aggregate(cross_attention.relevance(affinities, energies), affinities)

  def aggregate(self, values: tf.Tensor, affinities: cross_attention.Affinities) -> tf.Tensor:
    """AGG over the queries: [X, M, Y] to [X, Y]."""
    config = self.config
    return cross_attention.aggregate(
      values, affinities.scored_mask, config.aggregation, config.lambda_lse
    )
