"""Attention distillation (Zhou et al., "More Grounded Image Captioning by Distilling
Image-Text Matching Model", CVPR 2020, arXiv:2004.00390).

    L = (1/|Ω|) Σ_{(b,t) in Ω} KL(α || β)       α the matcher's attention, β the captioner's

Ω are the nouns that the teacher attends from. Departure from the paper, with its code: the
paper's Eq. 15 prints KL(β || α); `reverse` gives it. α and β are held above 1e-8 and not
normalised again. Departure from the code: a noun that the teacher has no attention for
(an unknown word) is left out of Ω instead of counting with a loss of 0.
"""

from typing import Literal

import tensorflow as tf

FLOOR = 1e-8

Kind = Literal["kl", "reverse", "nll"]


def attention_kl(
  teacher: tf.Tensor, student: tf.Tensor, word_mask: tf.Tensor, reverse: bool = False
) -> tf.Tensor:
  """KL(α || β), or KL(β || α) where `reverse`, averaged over masked words.

  Args:
    teacher: α, [B, T, R].
    student: β, [B, T, R].
    word_mask: bool [B, T], Ω.

  Returns:
    Scalar float32; 0 where Ω is empty.
  """
  alpha, beta = tf.maximum(teacher, FLOOR), tf.maximum(student, FLOOR)
  p, q = (beta, alpha) if reverse else (alpha, beta)
  return masked_mean(tf.reduce_sum(p * (tf.math.log(p) - tf.math.log(q)), -1), word_mask)


def attention_nll(teacher: tf.Tensor, student: tf.Tensor, word_mask: tf.Tensor) -> tf.Tensor:
  """-log β of the teacher's strongest region, averaged over masked words."""
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
  """α weighted by areas^power and normalised again.

  Of regions that a matcher cannot tell apart (two of a class) captions mean the largest
  more often than not; areas are no labels, so nothing is given away.

  Args:
    teacher: α, [B, T, R].
    boxes: [I, R, 4] from 0 to 1, B = I * n, picture-major.
    power: 0 leaves α as it is.
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
  """Mean of values [...] where mask [...] is true, as a scalar; 0 where it never is."""
  weights = tf.cast(mask, values.dtype)
  return tf.math.divide_no_nan(tf.reduce_sum(values * weights), tf.reduce_sum(weights))
