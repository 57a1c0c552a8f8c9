"""Batches for a detector: cached maps with the annotated boxes, words and colours.

The pictures of a step, and their views, are a pure function of (seed, step), so a
run that was stopped goes on exactly.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf.vision import annotations, map_cache, picture_views

MAX_BOXES = 32  # A picture with more (1 of 200) teaches some, others in another epoch.


@dataclasses.dataclass(frozen=True)
class DetectionBatches:
  """What the training loop asks for: a dataset that begins with the batch of a step.

  Attributes:
    cache: maps of the pictures, and of others perhaps.
    pictures: what is learned, each with a box or more.
    batch_size: pictures of a step.
    seed: of the order and of the views.
  """

  cache: map_cache.MapCache
  pictures: Sequence[annotations.Picture]
  batch_size: int
  seed: int

  @property
  def steps_per_epoch(self) -> int:
    return max(1, len(self.pictures) // self.batch_size)

  def __call__(self, start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    index, count = worker
    rows = self.batch_size // count
    names = list(self._specs())

    def load(step: np.int64):
      batch = self.batch(int(step))
      return [batch[name][index * rows : (index + 1) * rows] for name in names]

    def named(step: tf.Tensor) -> dict[str, tf.Tensor]:
      specs = self._specs()
      values = tf.numpy_function(load, [step], [specs[name].dtype for name in names])
      return {
        name: tf.ensure_shape(value, [rows, *specs[name].shape[1:]])
        for name, value in zip(names, values, strict=True)
      }

    steps = tf.data.Dataset.range(start_step, np.iinfo(np.int64).max)
    return steps.map(named, num_parallel_calls=1, deterministic=True).prefetch(3)

  def batch(self, step: int) -> dict[str, np.ndarray]:
    """The whole batch of a 0-based step."""
    chosen = [self.pictures[number] for number in self._numbers(step)]
    rng = np.random.default_rng((self.seed, step))
    views = rng.integers(0, self.cache.views, self.batch_size)
    rows = np.array([self.cache.rows[picture.image_id] for picture in chosen])
    return {
      "image_id": np.array([picture.image_id.encode() for picture in chosen], object),
      **self.cache.read(rows, views),
      **targets(chosen, views, rng),
    }

  def _numbers(self, step: int) -> np.ndarray:
    """Pictures of a step: every epoch is a shuffle of its own."""
    epoch, position = divmod(step, self.steps_per_epoch)
    order = np.random.default_rng((self.seed, 1 << 20, epoch)).permutation(len(self.pictures))
    return np.resize(order[position * self.batch_size :][: self.batch_size], self.batch_size)

  def _specs(self) -> dict[str, tf.TensorSpec]:
    words, colours = (getattr(self.pictures[0], name).shape[1] for name in ("words", "colours"))
    return {
      "image_id": tf.TensorSpec([None], tf.string),
      **self.cache.specs(),
      "boxes": tf.TensorSpec([None, MAX_BOXES, 4], tf.float32),
      "box_mask": tf.TensorSpec([None, MAX_BOXES], tf.bool),
      "words": tf.TensorSpec([None, MAX_BOXES, words], tf.float32),
      "colours": tf.TensorSpec([None, MAX_BOXES, colours], tf.float32),
    }


def targets(
  pictures: Sequence[annotations.Picture], views: Sequence[int], rng: np.random.Generator
) -> dict[str, np.ndarray]:
  """Padded boxes (of the picture) in random order, words and colours."""
  count = len(pictures)
  found = {
    "boxes": np.zeros((count, MAX_BOXES, 4), np.float32),
    "box_mask": np.zeros((count, MAX_BOXES), bool),
    "words": np.zeros((count, MAX_BOXES, pictures[0].words.shape[1]), np.float32),
    "colours": np.zeros((count, MAX_BOXES, pictures[0].colours.shape[1]), np.float32),
  }
  for row, (picture, view) in enumerate(zip(pictures, views, strict=True)):
    boxes, visible = picture_views.boxes_in(
      picture.boxes, picture_views.view(picture.image_id, int(view))
    )
    order = rng.permutation(np.flatnonzero(visible))[:MAX_BOXES]
    n = len(order)
    found["boxes"][row, :n] = boxes[order]
    found["box_mask"][row, :n] = True
    found["words"][row, :n] = picture.words[order]
    found["colours"][row, :n] = picture.colours[order]
  return found
