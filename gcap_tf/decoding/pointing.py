"""Where a word points: attention, label and objectness of the regions together.

    π_{t,i} ∝ √α_{t,i} p_i(l_t) o_i |b_i|^a        l_t: the label that word t names
                                                   p_i, o_i: the detector's labels and objectness
                                                   |b_i|: area of the region

Attention alone says where the captioner looked while it chose a word. For a word that names a
label, the detector knows more, and both are right more often together. A word without a label
keeps π = α. A word in the plural points at all it names: the smallest box around every region
with π_{t,i} >= τ max_i π_{t,i}, as the boxes of such words are annotated.

If a region has one label in place of a distribution, p_i is 1 for that label and o_i is 1; a word
whose label no region has keeps π = α, too.

Not from a paper. No word of a caption was tied to a box for it; but the labels come from a
detector that has learned which words name a box, or from whoever named the boxes.
"""

import dataclasses

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.captioners import base
from gcap_tf.decoding import grounding
from gcap_tf.layers import naming

_FLOOR = 1e-4  # So that regions which nothing speaks for still differ.


@dataclasses.dataclass(frozen=True)
class Pointing:
  """What pointing needs besides attention.

  Attributes:
    word_labels: for each word of the vocabulary, the label it names, from 0; -1 if it names none.
    plurals: ids of the words that name several things.
    label_columns: first column of a feature that holds the labels, as √p up to a constant, and
      one past the last; equal if every region has one label, see `region_labels`.
    score_column: column of the objectness, up to a constant; read with `label_columns` only.
    share: τ.
    region_labels: for each id in the batch's `region_labels`, the label as `word_labels` counts
      them; -1 for no label.
    area_power: a.
  """

  word_labels: tuple[int, ...]
  plurals: tuple[int, ...]
  label_columns: tuple[int, int] = (0, 0)
  score_column: int = 0
  share: configs.Fraction = 0.3
  region_labels: tuple[int, ...] = ()
  area_power: configs.Weight = 0.0


def evidence(
  pointing: Pointing, batch: base.Batch, tokens: tf.Tensor, attention: tf.Tensor
) -> tf.Tensor:
  """π [B, T, R]; its sum is 1 where a picture has regions.

  Args:
    pointing: see there.
    batch: has `boxes` [B, R, 4], `region_mask` [B, R], and `features` [B, R, D] or
      `region_labels` [B, R].
    tokens: int32 [B, T].
    attention: α [B, T, R], 0 on padding.
  """
  labels = tf.gather(tf.constant(pointing.word_labels, tf.int32), tokens)  # [B, T]
  mask = batch["region_mask"][:, tf.newaxis]  # [B, 1, R]
  if pointing.region_labels:
    of_region = tf.gather(tf.constant(pointing.region_labels, tf.int32), batch["region_labels"])
    same = (of_region[:, tf.newaxis] == labels[..., tf.newaxis]) & mask  # [B, T, R]
    named = tf.cast(same, tf.float32)
    is_named = (labels >= 0) & tf.reduce_any(same, -1)
    objectness = tf.ones(tf.shape(of_region))
  else:
    named, objectness = _of_features(pointing, batch["features"], labels)
    is_named = labels >= 0
  joint = tf.sqrt(attention + _FLOOR) * (named + _FLOOR) * (objectness + _FLOOR)[:, tf.newaxis]
  if pointing.area_power:
    sides = tf.maximum(batch["boxes"][..., 2:] - batch["boxes"][..., :2], 0.0)
    areas = tf.reduce_prod(sides, -1)  # [B, R]
    joint *= tf.pow(areas + _FLOOR, pointing.area_power)[:, tf.newaxis]
  joint *= tf.cast(mask, tf.float32)
  joint = tf.math.divide_no_nan(joint, tf.reduce_sum(joint, -1, keepdims=True))
  return tf.where(is_named[..., tf.newaxis], joint, attention)


def _of_features(
  pointing: Pointing, features: tf.Tensor, labels: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """p_i(l_t) [B, T, R] and o_i [B, R] from features [B, R, D] and labels [B, T]."""
  p = naming.distribution(features, pointing.label_columns)  # [B, R, L]
  named = tf.gather(tf.transpose(p, [0, 2, 1]), tf.maximum(labels, 0), batch_dims=1)
  return named, tf.maximum(features[..., pointing.score_column], 0.0)


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
