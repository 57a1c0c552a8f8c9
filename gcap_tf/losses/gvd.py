"""GVD's supervised losses (Zhou et al., "Grounded Video Description", CVPR 2019,
arXiv:1812.06587). Each is a mean over Ω, the pairs of the batch of a word t and a region i
with IoU > 0.5:

    L_att = - (1/|Ω|) Σ_Ω log softmax_i(z_t)
    L_grd = - (1/|Ω|) Σ_Ω log softmax_i(M_{c(t),i} + z_{t,i})
    L_cls = - (1/|Ω|) Σ_Ω log softmax_c(M_{:,i})_{c(t)}

z: scores of the attention, M: class logits of regions, c(t): class of word t. In a video softmax_i
is over the regions of the frames in which word t has a box.
Departure from the released code: the loss of a batch without pairs is 0, not NaN.
"""

import tensorflow as tf

from gcap_tf.losses import boxes, distillation


def pairs(target_regions: tf.Tensor) -> tf.Tensor:
  """Ω: positive pairs of word and region, bool [B, T, R]."""
  return boxes.positives("extend_nll", target_regions)


def attention_loss(scores: tf.Tensor, positive: tf.Tensor, region_mask: tf.Tensor) -> tf.Tensor:
  """L_att of the attention's scores, or L_grd of `grounding_scores`.

  Args:
    scores: [B, T, R].
    positive: Ω, bool [B, T, R].
    region_mask: bool [B, R]; or [B, T, R], the regions that a word's softmax is over.
  """
  real = region_mask if len(region_mask.shape) == 3 else region_mask[:, tf.newaxis]
  log_probs = tf.nn.log_softmax(tf.where(real, scores, -1e8))
  return distillation.masked_mean(-log_probs, positive & real)


def grounding_scores(
  class_logits: tf.Tensor, word_classes: tf.Tensor, scores: tf.Tensor
) -> tf.Tensor:
  """M_{c(t),i} + z_{t,i}.

  Args:
    class_logits: M, [B, R, C].
    word_classes: c, int32 [B, T].
    scores: z, [B, T, R].
  """
  per_class = tf.transpose(class_logits, [0, 2, 1])  # [B, C, R]
  return tf.gather(per_class, word_classes, batch_dims=1) + scores


def classification_loss(
  class_logits: tf.Tensor, word_classes: tf.Tensor, positive: tf.Tensor
) -> tf.Tensor:
  """L_cls.

  Args:
    class_logits: M, [B, R, C].
    word_classes: c, int32 [B, T].
    positive: Ω, bool [B, T, R].
  """
  log_probs = tf.transpose(tf.nn.log_softmax(class_logits), [0, 2, 1])  # [B, C, R]
  return distillation.masked_mean(-tf.gather(log_probs, word_classes, batch_dims=1), positive)
