"""Contrastive learning for captions (Dai & Lin, NeurIPS 2017, arXiv:1710.02534).

A captioner p_m learns to give matched pairs of picture and caption a higher probability than
a frozen reference p_n does, and mismatched pairs a lower one:

    G(c, I) = ln p_m(c | I) - ln p_n(c | I)                                       (Eq. 7)
    h(c, I) = r_ν(G) = 1 / (1 + ν exp(-G))                                        (Eq. 3, 8)
    L = -J = - mean_t ln h(c_t, I_t) - mean_t ln(1 - h(c_/t, I_t))                (Eq. 9, 10)

The first mean is over the matched pairs (c_t, I_t) of the batch, the second over all its
mismatched pairs (c_/t, I_t): all sets Y_k of Eq. 10 together. The first term alone is the
paper's CL(P), the second CL(N). At G = 0 and ν = 1, L is 2 ln 2.

Introspective learning (IL), the paper's comparison, has no reference: the target is compared with
itself on another picture I', so that G = ln p_m(c | I) - ln p_m(c | I') in the first term alone.
"""

import math
from typing import Literal

import tensorflow as tf

Terms = Literal["both", "positive", "negative", "introspective"]
Form = Literal["softplus", "clipped"]
FLOOR = 1e-20


def positive_loss(ratio: tf.Tensor, nu: float = 1.0, form: Form = "softplus") -> tf.Tensor:
  """-ln h of each matched pair: [...] -> [...].

  Args:
    ratio: G.
    nu: ν.
    form: "softplus" is exact everywhere. "clipped" keeps h above 1e-20 as the released code
      does; its gradient vanishes if float32 rounds h to 0 or 1.
  """
  shifted = ratio - math.log(nu)
  return tf.nn.softplus(-shifted) if form == "softplus" else _clipped(tf.sigmoid(shifted))


def negative_loss(ratio: tf.Tensor, nu: float = 1.0, form: Form = "softplus") -> tf.Tensor:
  """-ln(1 - h) of each mismatched pair; arguments as for `positive_loss`."""
  shifted = ratio - math.log(nu)
  return tf.nn.softplus(shifted) if form == "softplus" else _clipped(1.0 - tf.sigmoid(shifted))


def _clipped(probability: tf.Tensor) -> tf.Tensor:
  return -tf.math.log(tf.clip_by_value(probability, FLOOR, 1.0))


def loss(
  positive: tf.Tensor,
  negative: tf.Tensor,
  nu: float = 1.0,
  terms: Terms = "both",
  form: Form = "softplus",
) -> dict[str, tf.Tensor]:
  """The terms of L by name, "positive" and "negative": scalars, each a mean over its pairs.

  Args:
    positive: G of matched pairs, any shape.
    negative: G of mismatched pairs, any shape.
    nu: ν.
    terms: "positive" is CL(P), "negative" CL(N); "introspective" is the first term alone, for a
      `positive` that compares two pictures.
    form: as for `positive_loss`.
  """
  found = {}
  if terms != "negative":
    found["positive"] = tf.reduce_mean(positive_loss(positive, nu, form))
  if terms in ("both", "negative"):
    found["negative"] = tf.reduce_mean(negative_loss(negative, nu, form))
  return found
