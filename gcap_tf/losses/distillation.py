"""Attention distillation (Zhou et al., "More Grounded Image Captioning by Distilling
Image-Text Matching Model", CVPR 2020, arXiv:2004.00390).

    L = (1/|Ω|) Σ_{(b,t) in Ω} KL(α || β)     α: the matcher's attention, β: the captioner's

The mean is over Ω, the nouns of the batch (or the parts of speech that the teacher scores) that
the teacher attends from. Departure from the
paper, as in the released code: Eq. 15 is a sum of KL(β || α); `reverse` gives this direction.
α and β are clipped from below at 1e-8 and not normalised again. Departure from the code: Ω
leaves out a noun for which the teacher has no attention (an unknown word); in the code it
counts with a loss of 0.
"""

from typing import Literal

import tensorflow as tf

FLOOR = 1e-8

Kind = Literal["kl", "reverse", "nll"]


def attention_kl(
  teacher: tf.Tensor, student: tf.Tensor, word_mask: tf.Tensor, reverse: bool = False
) -> tf.Tensor:
  """Mean over Ω of KL(α || β), or of KL(β || α) if `reverse`.

  Args:
    teacher: α, [B, T, R].
    student: β, [B, T, R].
    word_mask: bool [B, T], Ω.

  Returns:
    Scalar float32; 0 if Ω is empty.
  """
  alpha, beta = tf.maximum(teacher, FLOOR), tf.maximum(student, FLOOR)
  p, q = (beta, alpha) if reverse else (alpha, beta)
  return masked_mean(tf.reduce_sum(p * (tf.math.log(p) - tf.math.log(q)), -1), word_mask)


def attention_nll(teacher: tf.Tensor, student: tf.Tensor, word_mask: tf.Tensor) -> tf.Tensor:
  """Mean over Ω (`word_mask`) of -log β of the region with the teacher's largest α."""
  target = tf.argmax(teacher, -1)
  beta = tf.gather(student, target, batch_dims=2)
  return masked_mean(-tf.math.log(tf.maximum(beta, FLOOR)), word_mask)


def loss(kind: Kind, teacher: tf.Tensor, student: tf.Tensor, noun_mask: tf.Tensor) -> tf.Tensor:
  """Distils α [B, T, R] into β [B, T, R] at the nouns that the teacher attends from."""
  word_mask = words(teacher, noun_mask)
  if kind == "nll":
    return attention_nll(teacher, student, word_mask)
  return attention_kl(teacher, student, word_mask, reverse=kind == "reverse")


def prefer_large(teacher: tf.Tensor, boxes: tf.Tensor, power: float) -> tf.Tensor:
  """α weighted by area^power and normalised again.

  If a matcher cannot distinguish regions (two objects of a class), a caption usually means
  the largest one. Areas are not annotations, so this uses no labels.

  Args:
    teacher: α, [B, T, R].
    boxes: [I, R, 4] from 0 to 1, B = I * n, picture-major.
    power: 0 leaves α unchanged.
  """
  x1, y1, x2, y2 = tf.unstack(boxes, axis=-1)
  weights = tf.maximum((x2 - x1) * (y2 - y1), FLOOR) ** power  # [I, R]
  pictures, regions = tf.unstack(tf.shape(weights))
  alpha = tf.reshape(teacher, [pictures, -1, regions]) * weights[:, tf.newaxis]
  alpha = tf.math.divide_no_nan(alpha, tf.reduce_sum(alpha, -1, keepdims=True))
  return tf.reshape(alpha, tf.shape(teacher))


def words(teacher: tf.Tensor, noun_mask: tf.Tensor) -> tf.Tensor:
  """Ω: nouns that the teacher attends from, bool [B, T]."""
  return noun_mask & (tf.reduce_sum(teacher, -1) > 0.0)


def masked_mean(values: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
  """Mean of values [...] over the true entries of mask [...]: scalar; 0 if there are none."""
  weights = tf.cast(mask, values.dtype)
  return tf.math.divide_no_nan(tf.reduce_sum(values * weights), tf.reduce_sum(weights))
