"""The inputs of a served model, and the batch that the model reads.

features       float32 [B, R, D]  if D > 0
boxes          float32 [B, R, 4]  x1, y1, x2, y2 from 0 to 1
num_regions    int32 [B]          number of regions; the rows after them are padding
labels         string [B, R]      if the model was trained on labelled regions; other names
                                  are mapped to its labels (`label_mapping`) or dropped
global_feature float32 [B, G]     if the model reads one that is not the mean of the features
grid_features  float32 [B, C, M]  if the model reads a grid

A model of videos takes, besides:

frame          int32 [B, R]       frame of each region, from 0
num_frames     int32 [B]          frames of `grid_features`; the rows after them are padding
segment        int32 [B, 2]       those of the segment: the first, and one past the last

the last two if it reads a grid. Its global feature ends in the segment's position in the video.
"""

import dataclasses
from typing import Any

import tensorflow as tf

from gcap_tf import batch as batches
from gcap_tf.data.stores import label_mapping
from gcap_tf.text import vocabulary as vocabularies

# A model does not read which picture a row is.
_READ = [name for name in batches.names(["regions"]) if batches.ENTRIES[name].parts]


@dataclasses.dataclass(frozen=True)
class RegionInputs:
  """Which of the inputs a model takes.

  Attributes:
    feature_size: D; 0 if regions have labels only.
    labelled: whether regions have labels.
    global_size: G if the global feature is a separate input, else 0.
    grid_size: M if the model reads a grid, else 0.
    of_videos: whether regions have frames.
  """

  feature_size: int
  labelled: bool
  global_size: int = 0
  grid_size: int = 0
  of_videos: bool = False

  @classmethod
  def of(cls, config: Any) -> "RegionInputs":
    """Returns the inputs that a model configuration needs."""
    return cls(
      config.feature_size,
      config.num_labels > 0,
      0 if config.global_is_mean else config.global_size,
      getattr(config, "grid_size", 0),
      getattr(config, "num_frames", 1) > 1,
    )

  def specs(self) -> dict[str, tf.TensorSpec]:
    sizes, specs = {"D": self.feature_size, "G": self.global_size, "M": self.grid_size}, {}
    if self.feature_size:
      specs["features"] = batches.spec("features", sizes)
    specs["boxes"] = batches.spec("boxes", sizes)
    specs["num_regions"] = tf.TensorSpec([None], tf.int32, "num_regions")
    if self.labelled:
      specs["labels"] = tf.TensorSpec([None, None], tf.string, "labels")
    if self.global_size:
      specs["global_feature"] = batches.spec("global_feature", sizes)
    if self.grid_size:
      specs["grid_features"] = batches.spec("grid_features", sizes)
    if self.of_videos:
      specs["frame"] = batches.spec("frame", sizes)
    if self.of_videos and self.grid_size:
      specs["num_frames"] = tf.TensorSpec([None], tf.int32, "num_frames")
      specs["segment"] = batches.spec("segment", sizes)
    return specs


class RegionReader(tf.Module):
  """Builds the batch of a model from the inputs, in the graph.

  The batch has at least one picture and one region, so that a model never reduces an
  empty axis; callers cut their answers back to `sizes`. Padding becomes zeros.
  """

  def __init__(self, inputs: RegionInputs, vocabulary: vocabularies.Vocabulary):
    super().__init__(name="region_reader")
    self.inputs = inputs
    self._label_ids = None
    if inputs.labelled:
      known = label_mapping.LabelMapping(vocabulary.labels).known(vocabulary.words)
      ids = [vocabulary.label_ids[label] for label in known.values()]
      self._label_ids = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
          tf.constant(list(known), tf.string), tf.constant(ids, tf.int32)
        ),
        default_value=0,
      )

  def sizes(self, inputs: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns B and R of the request."""
    shape = tf.shape(inputs["boxes"])
    return shape[0], shape[1]

  def batch(self, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Returns a batch of I = max(B, 1) pictures with max(R, 1) regions."""
    rows, regions = self.sizes(inputs)
    more_rows, more_regions = tf.maximum(1 - rows, 0), tf.maximum(1 - regions, 0)

    def at_least_one(x: tf.Tensor) -> tf.Tensor:
      paddings = [[0, more_rows], [0, more_regions], [0, 0]][: x.shape.rank]
      return tf.pad(x, paddings)

    boxes = at_least_one(inputs["boxes"])
    count = tf.clip_by_value(tf.pad(inputs["num_regions"], [[0, more_rows]]), 0, regions)
    region_mask = tf.sequence_mask(count, tf.shape(boxes)[1])  # [I, R]
    is_real = region_mask[..., tf.newaxis]
    batch = {"boxes": tf.where(is_real, boxes, 0.0), "region_mask": region_mask}
    if self.inputs.feature_size:
      features = tf.where(is_real, at_least_one(inputs["features"]), 0.0)
      mean = tf.reduce_sum(features, 1) / tf.cast(tf.maximum(count, 1), tf.float32)[:, tf.newaxis]
      batch.update(features=features, global_feature=mean)
    if self._label_ids is not None:
      ids = self._ids(inputs["labels"])
      batch["region_labels"] = tf.where(region_mask, at_least_one(ids), 0)
    if self.inputs.global_size:
      batch["global_feature"] = tf.pad(inputs["global_feature"], [[0, more_rows], [0, 0]])
    if self.inputs.grid_size:
      more_cells = tf.maximum(1 - tf.shape(inputs["grid_features"])[1], 0)
      grid = tf.pad(inputs["grid_features"], [[0, more_rows], [0, more_cells], [0, 0]])
      batch.update(grid_features=grid, grid_mask=tf.ones(tf.shape(grid)[:2], tf.bool))
    if self.inputs.of_videos:
      batch["frame"] = tf.where(region_mask, at_least_one(inputs["frame"]), 0)
    if self.inputs.of_videos and self.inputs.grid_size:
      # The encoder of frames needs one real frame, also in rows that only fill up a batch.
      frames = tf.maximum(tf.pad(inputs["num_frames"], [[0, more_rows]]), 1)
      batch["grid_mask"] = tf.sequence_mask(frames, tf.shape(grid)[1])
      batch["segment"] = tf.pad(inputs["segment"], [[0, more_rows], [0, 0]])
    shape = tf.shape(region_mask)
    sizes = {"I": shape[0], "R": shape[1], "D": self.inputs.feature_size, "G": 0}
    return batches.complete(batch, _READ, sizes)

  def unknown_labels(self, inputs: dict[str, tf.Tensor]) -> tf.Tensor:
    """[B, R] the names of regions that the model does not know; "" for all others."""
    names = inputs["labels"]
    is_real = tf.sequence_mask(inputs["num_regions"], tf.shape(names)[1])
    is_named = tf.strings.length(tf.strings.strip(names)) > 0
    return tf.where(is_real & is_named & (self._ids(names) == 0), names, "")

  def _ids(self, names: tf.Tensor) -> tf.Tensor:
    """Label ids: of the whole name, else of its plain spelling, else of its last word."""
    plain = tf.strings.lower(names, "utf-8")
    plain = tf.strings.strip(tf.strings.regex_replace(plain, r"[\s_]+", " "))
    last = tf.strings.regex_replace(plain, "^.*[ -]", "")
    ids = self._label_ids.lookup(last)
    for spelling in (plain, names):
      found = self._label_ids.lookup(spelling)
      ids = tf.where(found > 0, found, ids)
    return ids
