"""Attention supervised by annotated boxes (Zhou et al., CVPR 2020, Eq. 16): an upper bound.

Targets are the IoU of every region with the box of the word; they are 0 for a word without a
box. β is the captioner's attention, Ω the words or pairs that the mean is over:

    nll         (1/|Ω|) Σ_Ω -log β_ti*        Ω: words t whose best region i* has IoU > 0.5
    kl          (1/|Ω|) Σ_Ω KL(softmax_i(IoU_ti / 0.5) || β_t)        Ω: words t with a box
    extend_nll  (1/|Ω|) Σ_Ω -log β_ti        Ω: pairs of word t and region i with IoU > 0.5

In a video, β_t and the IoU of word t are those of the frames in which it has a box, β_t sums to 1
over them (`in_annotated_frames`).

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


def annotated_frames(target_regions: tf.Tensor, region_mask: tf.Tensor) -> tf.Tensor:
  """Regions of the frames in which each word has a box: bool [B, T, R].

  Args:
    target_regions: IoU, [B, T, R]; below 0 for regions of other frames.
    region_mask: bool [B, R].
  """
  return region_mask[:, tf.newaxis] & (target_regions >= 0)


def in_annotated_frames(attention: tf.Tensor, allowed: tf.Tensor) -> tf.Tensor:
  """Attention [B, T, R] of the `allowed` regions, which sums to 1 again."""
  kept = tf.where(allowed, attention, 0.0)
  return tf.math.divide_no_nan(kept, tf.reduce_sum(kept, -1, keepdims=True))


def loss(
  kind: Kind, target_regions: tf.Tensor, attention: tf.Tensor, region_mask: tf.Tensor
) -> tf.Tensor:
  """Mean over Ω of the chosen loss between attention and annotated regions.

  Args:
    kind: "nll", "kl" or "extend_nll"; see the module.
    target_regions: IoU, [B, T, R].
    attention: β, [B, T, R].
    region_mask: bool [B, R]; or [B, T, R], the regions that each word's loss is over.

  Returns:
    Scalar float32; 0 if Ω is empty.
  """
  chosen = positives(kind, target_regions)
  if kind == "nll":
    return distillation.attention_nll(target_regions, attention, chosen)
  if kind == "kl":
    real = region_mask if len(region_mask.shape) == 3 else region_mask[:, tf.newaxis]
    target = masking.masked_softmax(target_regions / TEMPERATURE, real)
    return distillation.attention_kl(target, attention, chosen)
  return distillation.masked_mean(-tf.math.log(tf.maximum(attention, distillation.FLOOR)), chosen)
