"""Attention supervised by annotated boxes (Zhou et al., CVPR 2020, Eq. 16): an upper bound.

Targets are the IoU of every region with the box of the word, 0 where a word has none.

    nll         mean over words of -log β_i*,  i* the region of highest IoU, if above 0.5
    kl          mean over words of KL(softmax_i(IoU_i / 0.5) || β)
    extend_nll  mean over (word, region) pairs with IoU > 0.5 of -log β_i

Departure from Eq. 16, with its code: the mean of `extend_nll` is over pairs, where the
equation sums over the regions of a word.
"""

from typing import Literal

import tensorflow as tf

from gcap_tf.layers import masking
from gcap_tf.losses import distillation

THRESHOLD = 0.5
TEMPERATURE = 0.5

Kind = Literal["nll", "kl", "extend_nll"]


def positives(kind: Kind, target_regions: tf.Tensor) -> tf.Tensor:
  """What the loss averages over: bool words [B, T], or pairs [B, T, R] of "extend_nll"."""
  if kind == "extend_nll":
    return target_regions > THRESHOLD
  best = tf.reduce_max(target_regions, -1)
  return best > (THRESHOLD if kind == "nll" else 0.0)


def loss(
  kind: Kind, target_regions: tf.Tensor, attention: tf.Tensor, region_mask: tf.Tensor
) -> tf.Tensor:
  """Pulls attention towards annotated regions.

  Args:
    kind: see above.
    target_regions: IoU, [B, T, R].
    attention: β, [B, T, R].
    region_mask: bool [B, R].

  Returns:
    Scalar float32; 0 where nothing is annotated.
  """
  chosen = positives(kind, target_regions)
  if kind == "nll":
    return distillation.attention_nll(target_regions, attention, chosen)
  if kind == "kl":
    target = masking.masked_softmax(target_regions / TEMPERATURE, region_mask[:, tf.newaxis])
    return distillation.attention_kl(target, attention, chosen)
  return distillation.masked_mean(-tf.math.log(tf.maximum(attention, distillation.FLOOR)), chosen)
