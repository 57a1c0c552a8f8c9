"""SCAN: Stacked Cross Attention for Image-Text Matching (Lee et al., ECCV 2018).

t2i: every word gathers the regions it looks at, and the pair is scored by how well
words and what they found agree; i2t: the same with the roles swapped. The equations
are in `layers/cross_attention.py`, the score is

    S(I, T) = AGG_q R(q, a_q)        (Eq. 6 of POS-SCAN for AGG = mean)
"""

import dataclasses

import tensorflow as tf

from gcap_tf.layers import cross_attention
from gcap_tf.matchers import attention, base

DEFAULT_LAMBDA = {"t2i": 9.0, "i2t": 4.0}


@dataclasses.dataclass(frozen=True)
class SCANConfig(attention.EncoderConfig):
  """Options of SCAN; the defaults are the released "t-i AVG" model.

  Attributes:
    direction: who looks at whom.
    raw_norm: how affinities are normalised along the queries.
    aggregation: AGG.
    lambda_softmax: inverse temperature of the attention; None is 9 (t2i) or 4 (i2t).
    lambda_lse: inverse temperature of AGG = log_sum_exp.
  """

  direction: attention.Direction = "t2i"
  raw_norm: cross_attention.RawNorm = "clipped_l2norm"
  aggregation: cross_attention.Aggregation = "mean"
  lambda_softmax: float | None = None
  lambda_lse: float = 6.0


@base.MATCHERS.register("scan")
class SCANMatcher(attention.RelevanceMatcher):
  """Padding words and regions have no part in attention, norms or scores."""

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
    """AGG over the queries: [K, M, Q] to [K, Q]."""
    config = self.config
    return cross_attention.aggregate(
      values, affinities.scored_mask, config.aggregation, config.lambda_lse
    )
