"""Where a word points: attention, label and objectness of the regions together.

    π_{t,i} ∝ √α_{t,i} p_i(l_t) o_i        l_t: the label that word t names
                                           p_i, o_i: the detector's labels and objectness

Attention alone says where the captioner looked while it chose a word. For a word that names a
label, the detector knows more, and both are right more often together. A word without a label
keeps π = α. A word in the plural points at all it names: the smallest box around every region
with π_{t,i} >= τ max_i π_{t,i}, as the boxes of such words are annotated.

Not from a paper. No word of a caption was tied to a box for it; but the labels come from a
detector that has learned which words name a box.
"""

import dataclasses

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.captioners import base
from gcap_tf.decoding import grounding

_FLOOR = 1e-4  # So that regions which nothing speaks for still differ.


@dataclasses.dataclass(frozen=True)
class Pointing:
  """What pointing needs besides attention.

  Attributes:
    word_labels: for each word of the vocabulary, the column of the label it names, from 0; -1 if
      it names none.
    plurals: ids of the words that name several things.
    label_columns: first column of a feature that holds the labels, as √p up to a constant, and
      one past the last.
    score_column: column of the objectness, up to a constant.
    share: τ.
  """

  word_labels: tuple[int, ...]
  plurals: tuple[int, ...]
  label_columns: tuple[int, int]
  score_column: int
  share: configs.Fraction = 0.3


def evidence(
  pointing: Pointing, batch: base.Batch, tokens: tf.Tensor, attention: tf.Tensor
) -> tf.Tensor:
  """π [B, T, R]; its sum is 1 where a picture has regions.

  Args:
    pointing: see there.
    batch: has `features` [B, R, D] and `region_mask` [B, R].
    tokens: int32 [B, T].
    attention: α [B, T, R], 0 on padding.
  """
  first, end = pointing.label_columns
  p = tf.square(batch["features"][..., first:end])
  p = tf.math.divide_no_nan(p, tf.reduce_sum(p, -1, keepdims=True))  # [B, R, L]
  column = pointing.score_column
  objectness = tf.maximum(batch["features"][..., column], 0.0)  # [B, R]
  labels = tf.gather(tf.constant(pointing.word_labels, tf.int32), tokens)  # [B, T]
  named = tf.gather(tf.transpose(p, [0, 2, 1]), tf.maximum(labels, 0), batch_dims=1)  # [B, T, R]
  joint = tf.sqrt(attention + _FLOOR) * (named + _FLOOR) * (objectness + _FLOOR)[:, tf.newaxis]
  joint *= tf.cast(batch["region_mask"], tf.float32)[:, tf.newaxis]
  joint = tf.math.divide_no_nan(joint, tf.reduce_sum(joint, -1, keepdims=True))
  return tf.where((labels >= 0)[..., tf.newaxis], joint, attention)


def boxes(
  pointing: Pointing, tokens: tf.Tensor, pointed: tf.Tensor, boxes: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """`box_index` int32 [B, T], the region with the largest π, and `box` [B, T, 4].

  Args:
    pointing: see there.
    tokens: int32 [B, T].
    pointed: π [B, T, R].
    boxes: [B, R, 4].
  """
  box_index = grounding.strongest_region(pointed)
  best = tf.one_hot(box_index, tf.shape(pointed)[-1], on_value=True, off_value=False)
  peak = tf.reduce_max(pointed, -1, keepdims=True)
  is_plural = tf.reduce_any(tokens[..., tf.newaxis] == list(pointing.plurals or (-1,)), -1)
  chosen = best | (is_plural[..., tf.newaxis] & (pointed >= pointing.share * peak) & (peak > 0))
  corners = boxes[:, tf.newaxis]  # [B, 1, R, 4]
  chosen = chosen[..., tf.newaxis]  # [B, T, R, 1]
  low = tf.reduce_min(tf.where(chosen, corners[..., :2], tf.float32.max), 2)
  high = tf.reduce_max(tf.where(chosen, corners[..., 2:], tf.float32.min), 2)
  return box_index, tf.concat([low, high], -1)
