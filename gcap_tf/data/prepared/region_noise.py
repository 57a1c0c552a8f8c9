"""Changes the regions of a batch, in the graph: training for whatever a detector gives.

    foreign    a picture has the things and names of a COCO detector (stores/foreign_names.py)
    few        a picture keeps 1 to `few_most` regions, large ones rather than small ones
    drop       every region may be missing; one always stays
    unlabel    a region has no label: id 0, and zeros in the label's columns of its feature
    duplicate  a region stands twice, the second time with a box that is a little off

Everything that belongs to a region (`_BY_REGION`, annotated and distilled attention) follows it.
A noun whose region is gone must not be distilled: attention of which less than half is left becomes
0, the rest sums to 1 again. `mute` takes the names of missing things out of the words to learn, so
that a captioner does not learn to say what it was not given.

Draws are a function of the seed, which the caller makes from (seed, step).
"""

import dataclasses

import numpy as np
import tensorflow as tf

from gcap_tf import batch as batches
from gcap_tf import config as configs

Batch = dict[str, tf.Tensor]
_BY_REGION = ("features", "boxes", "region_labels", "frame", "region_scores", "position_blocks")
_BY_WORD_AND_REGION = ("target_regions", "teacher_attention")
_SCALE = 4.0  # Label columns hold 4 sqrt(p), see vision/regions.py.
_SHIFT = 0.1  # Most of a box's side that a duplicate is off by.
_LEFT = 0.5  # Share of a word's attention that must be left.
_FOREIGN, _FEW, _HOW_MANY, _WHICH, _DROP, _UNLABEL, _TWICE, _OFF = range(7001, 7009)


@dataclasses.dataclass(frozen=True)
class RegionNoise:
  """How often regions are changed; all 0 changes nothing.

  Attributes:
    foreign: chance that a picture has the things and names of a COCO detector.
    few: chance that a picture keeps few regions.
    few_most: the most regions of such a picture.
    drop: chance that a region is missing.
    unlabel: chance that a region has no label.
    duplicate: chance that a region stands twice, as far as there is room.
    mute: whether names of missing things are left out of the words to learn.
  """

  foreign: configs.Fraction = 0.0
  few: configs.Fraction = 0.0
  few_most: configs.PositiveInt = 3
  drop: configs.Fraction = 0.0
  unlabel: configs.Fraction = 0.0
  duplicate: configs.Fraction = 0.0
  mute: bool = True

  @property
  def is_off(self) -> bool:
    return not (self.foreign or self.few or self.drop or self.unlabel or self.duplicate)


@dataclasses.dataclass(frozen=True)
class Names:
  """What the names of regions mean for a run.

  Attributes:
    foreign: [n] position of the label that stands for another detector's name of each label, -1
      for what that detector does not see.
    words: [n] id of the word of each label, 0 if it is none.
    columns: (first, end) of the label's columns in a feature; equal if labels are ids.
  """

  foreign: np.ndarray
  words: np.ndarray
  columns: tuple[int, int] = (0, 0)

  @property
  def in_features(self) -> bool:
    return self.columns[1] > self.columns[0]


class RegionChanger:
  """`(batch, seed) -> batch` with other regions; see the module.

  Args:
    config: how often.
    names: names of regions; None if regions have none, which leaves foreign, unlabel, mute out.
    mean_feature: whether the global feature is the mean of the region features.
  """

  def __init__(self, config: RegionNoise, names: Names | None, mean_feature: bool = True):
    self.config, self.names, self.mean_feature = config, names, mean_feature

  def __call__(self, batch: Batch, seed: tf.Tensor) -> Batch:
    if self.config.is_off:
      return batch
    before = self._label(batch)  # position of each region's label, -1 for none
    labelled, kept = self._foreign(batch, before, seed)
    labelled, kept = self._unlabel(labelled, seed), self._fewer(batch["boxes"], kept, seed)
    source, is_copy, mask = self._order(kept, seed)
    found = {**labelled, "region_mask": mask}
    for name in _BY_REGION:
      if name in batch:
        found[name] = _moved(labelled[name], source, mask, batches.ENTRIES[name])
    found["boxes"] = self._off(found["boxes"], is_copy & mask, seed)
    if self.mean_feature and "features" in batch:
      count = tf.reduce_sum(tf.cast(mask, tf.float32), 1, keepdims=True)
      found["global_feature"] = tf.reduce_sum(found["features"], 1) / tf.maximum(count, 1.0)
    for name in _BY_WORD_AND_REGION:
      if name in batch:
        found[name] = _follow(batch[name], source, mask, name == "teacher_attention")
    if self.config.mute and self.names is not None and "tokens" in batch:
      found |= self._mute(batch, before, kept)
    return {name: tf.ensure_shape(value, batch[name].shape) for name, value in found.items()}

  def _label(self, batch: Batch) -> tf.Tensor:
    if self.names is None:
      return tf.fill(tf.shape(batch["region_mask"]), -1)
    if self.names.in_features:
      first, end = self.names.columns
      labels = batch["features"][..., first:end]
      best = tf.argmax(labels, -1, output_type=tf.int32)
      return tf.where(tf.reduce_max(labels, -1) > 0, best, -1)
    return batch["region_labels"] - 1

  def _foreign(self, batch, label, seed) -> tuple[Batch, tf.Tensor]:
    """The batch with foreign names, and the regions [I, R] that are left."""
    mask = batch["region_mask"]
    if not self.config.foreign or self.names is None:
      return dict(batch), mask
    table = tf.constant(self.names.foreign, tf.int32)
    named = tf.where(label >= 0, tf.gather(table, tf.maximum(label, 0)), -1)
    seen = mask & (named >= 0)
    chosen = _uniform(seed, _FOREIGN, tf.shape(mask)[:1]) < self.config.foreign
    chosen = (chosen & tf.reduce_any(seen, 1))[:, tf.newaxis]  # [I, 1]
    found = dict(batch)
    if self.names.in_features:
      renamed = self._renamed_columns(batch["features"])
      found["features"] = tf.where(chosen[..., tf.newaxis], renamed, batch["features"])
    else:
      found["region_labels"] = tf.where(chosen, named + 1, batch["region_labels"])
    return found, mask & (~chosen | seen)

  def _renamed_columns(self, features: tf.Tensor) -> tf.Tensor:
    """Moves the probability of each label to that of its foreign name."""
    first, end = self.names.columns
    move = np.zeros([end - first, end - first], np.float32)
    seen = np.flatnonzero(self.names.foreign >= 0)
    move[seen, self.names.foreign[seen]] = 1.0
    chance = tf.square(features[..., first:end] / _SCALE)
    moved = _SCALE * tf.sqrt(tf.einsum("irl,lm->irm", chance, move))
    return tf.concat([features[..., :first], moved, features[..., end:]], -1)

  def _fewer(self, boxes: tf.Tensor, kept: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    shape, config = tf.shape(kept), self.config
    if config.few:
      sides = tf.maximum(boxes[..., 2:] - boxes[..., :2], 0.0)
      draw = tf.maximum(_uniform(seed, _WHICH, shape), 1e-6)
      key = tf.math.log(tf.reduce_prod(sides, -1) + 1e-3) - tf.math.log(-tf.math.log(draw))
      rank = _rank(tf.where(kept, key, -1e9))
      most = 1 + tf.cast(_uniform(seed, _HOW_MANY, shape[:1]) * config.few_most, tf.int32)
      chosen = _uniform(seed, _FEW, shape[:1]) < config.few
      kept &= ~chosen[:, tf.newaxis] | (rank < tf.minimum(most, config.few_most)[:, tf.newaxis])
    if config.drop:
      draw = _uniform(seed, _DROP, shape)
      stays = _rank(tf.where(kept, draw, -1.0)) == 0
      kept &= (draw >= config.drop) | stays
    return kept

  def _unlabel(self, batch: Batch, seed: tf.Tensor) -> Batch:
    if not self.config.unlabel or self.names is None:
      return batch
    gone = _uniform(seed, _UNLABEL, tf.shape(batch["region_mask"])) < self.config.unlabel
    if not self.names.in_features:
      return {**batch, "region_labels": tf.where(gone, 0, batch["region_labels"])}
    first, end = self.names.columns
    features, columns = batch["features"], tf.range(batch["features"].shape[-1])
    is_label = (columns >= first) & (columns < end)
    return {**batch, "features": tf.where(gone[..., tf.newaxis] & is_label, 0.0, features)}

  def _order(self, kept, seed) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """For each slot: the region in it, whether that is a duplicate, and whether it is real."""
    regions = tf.shape(kept)[1]
    twice = kept & (_uniform(seed, _TWICE, tf.shape(kept)) < self.config.duplicate)
    both = tf.concat([kept, twice], 1)  # [I, 2 R]
    order = tf.argsort(tf.cast(~both, tf.int32), axis=1, stable=True)[:, :regions]
    return order % regions, order >= regions, tf.gather(both, order, batch_dims=1)

  def _off(self, boxes: tf.Tensor, is_copy: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    if not self.config.duplicate:
      return boxes
    sides = boxes[..., 2:] - boxes[..., :2]
    shift = (2.0 * _uniform(seed, _OFF, tf.shape(boxes)) - 1.0) * _SHIFT
    moved = tf.clip_by_value(boxes + shift * tf.concat([sides, sides], -1), 0.0, 1.0)
    return tf.where(is_copy[..., tf.newaxis], moved, boxes)

  def _mute(self, batch: Batch, label: tf.Tensor, kept: tf.Tensor) -> Batch:
    """Masks of words without the names of things that are gone and not left elsewhere."""
    words = tf.constant(self.names.words, tf.int32)
    word = tf.where(label >= 0, tf.gather(words, tf.maximum(label, 0)), 0)  # [I, R]
    gone = tf.where(batch["region_mask"] & ~kept, word, 0)
    left = tf.where(batch["region_mask"] & kept, word, 0)
    tokens = batch["tokens"]
    by_picture = tf.reshape(tokens, [tf.shape(kept)[0], -1, 1])  # [I, n T, 1]

    def among(names):
      return tf.reduce_any((by_picture == names[:, tf.newaxis]) & (by_picture > 0), -1)

    muted = tf.reshape(among(gone) & ~among(left), tf.shape(tokens))
    return {name: batch[name] & ~muted for name in ("token_mask", "noun_mask") if name in batch}


def _uniform(seed: tf.Tensor, salt: int, shape: tf.Tensor) -> tf.Tensor:
  return tf.random.stateless_uniform(shape, tf.random.experimental.stateless_fold_in(seed, salt))


def _rank(key: tf.Tensor) -> tf.Tensor:
  """Place of each region of a row if the largest key comes first: [I, R] int32."""
  return tf.argsort(tf.argsort(key, axis=1, direction="DESCENDING", stable=True), axis=1)


def _moved(rows: tf.Tensor, source: tf.Tensor, mask: tf.Tensor, entry: batches.Entry) -> tf.Tensor:
  """Rows [I, R, ...] of the regions in each slot, padding where there is none."""
  inner = [1] * (rows.shape.rank - 2)
  real = tf.reshape(mask, tf.concat([tf.shape(mask), tf.constant(inner, tf.int32)], 0))
  fill = tf.constant(np.asarray(entry.fill, entry.dtype))
  return tf.where(real, tf.gather(rows, source, batch_dims=1), fill)


def _follow(values: tf.Tensor, source: tf.Tensor, mask: tf.Tensor, sums_to_one: bool) -> tf.Tensor:
  """Values [B, T, R] of words for regions that moved."""
  shape = tf.shape(values)
  pictures = tf.shape(source)[0]
  rows = tf.reshape(values, [pictures, -1, shape[2]])  # [I, n T, R]
  index = tf.broadcast_to(source[:, tf.newaxis], tf.shape(rows))
  moved = tf.gather(rows, index, batch_dims=2) * tf.cast(mask[:, tf.newaxis], values.dtype)
  if sums_to_one:
    left, whole = tf.reduce_sum(moved, -1, keepdims=True), tf.reduce_sum(rows, -1, keepdims=True)
    moved = tf.where(left >= _LEFT * whole, tf.math.divide_no_nan(moved, left), 0.0)
  return tf.reshape(moved, shape)
