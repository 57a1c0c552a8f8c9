"""Attention supervised by annotated boxes (Zhou et al., CVPR 2020, Eq. 16): an upper bound.

Targets are the IoU of every region with the box of the word; they are 0 for a word without a
box. β is the captioner's attention, Ω the words or pairs that the mean is over:

    nll         (1/|Ω|) Σ_Ω -log β_ti*        Ω: words t whose best region i* has IoU > 0.5
    kl          (1/|Ω|) Σ_Ω KL(softmax_i(IoU_ti / 0.5) || β_t)        Ω: words t with a box
    extend_nll  (1/|Ω|) Σ_Ω -log β_ti        Ω: pairs of word t and region i with IoU > 0.5

Departure from Eq. 16, as in the released code: the equation adds -γ_ti log β_ti over the
regions of a word; `extend_nll` is a mean over pairs.
"""

from typing import Literal

import tensorflow as tf

from gcap_tf.layers import masking
from gcap_tf.losses import distillation

THRESHOLD = 0.5
TEMPERATURE = 0.5

Kind = Literal["nll", "kl", "extend_nll"]


def positives(kind: Kind, target_regions: tf.Tensor) -> tf.Tensor:
  """Ω, the entries that the loss is a mean over: bool words [B, T], or pairs [B, T, R]."""
  if kind == "extend_nll":
    return target_regions > THRESHOLD
  best = tf.reduce_max(target_regions, -1)
  return best > (THRESHOLD if kind == "nll" else 0.0)


def loss(
  kind: Kind, target_regions: tf.Tensor, attention: tf.Tensor, region_mask: tf.Tensor
) -> tf.Tensor:
  """Mean over Ω of the chosen loss between attention and annotated regions.

  Args:
    kind: "nll", "kl" or "extend_nll"; see the module.
    target_regions: IoU, [B, T, R].
    attention: β, [B, T, R].
    region_mask: bool [B, R].

  Returns:
    Scalar float32; 0 if Ω is empty.
  """
  chosen = positives(kind, target_regions)
  if kind == "nll":
    return distillation.attention_nll(target_regions, attention, chosen)
  if kind == "kl":
    target = masking.masked_softmax(target_regions / TEMPERATURE, region_mask[:, tf.newaxis])
    return distillation.attention_kl(target, attention, chosen)
  return distillation.masked_mean(-tf.math.log(tf.maximum(attention, distillation.FLOOR)), chosen)
