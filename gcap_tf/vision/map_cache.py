"""Backbone maps of photographs on disk, in float16: frozen layers run once, not every epoch.

    FOLDER/index.json      what the maps are of: picture ids, backbone, its weights, size, views,
                           pictures done
    FOLDER/map_8.npy ...   [pictures, views, S/8, S/8, C]; see `picture_views.py`
    FOLDER/picture.npy     [pictures, views, S/4, S/4, 3] uint8, for colours
    FOLDER/content.npy     [pictures, views, 2] float32

A fill that was stopped goes on after the last whole batch. With both views a picture on a canvas of
384 pixels takes 0.85 MB with three maps (Lite0), 0.4 MB with the one of stride 8.
"""

import os
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files, fingerprints, progress
from gcap_tf.vision import colour_histogram, photographs
from gcap_tf.vision.backbones import base

_BATCH = 4
_SAVE_EVERY = 128  # batches


class MapCache:
  """Maps of a list of pictures, filled on first use.

  Args:
    folder: where the arrays are.
    backbone: computes the maps; its `name` is part of the index.
    image_ids: of the pictures, in order.
    paths: of their files, in the same order.
    size: side of the canvas.
    views: of each picture.
  """

  def __init__(
    self,
    folder: files.PathLike,
    backbone: base.Backbone,
    image_ids: Sequence[str],
    paths: Sequence[pathlib.Path],
    size: int,
    views: int,
  ):
    self.folder = pathlib.Path(folder)
    self.backbone, self.image_ids, self.paths = backbone, list(image_ids), list(paths)
    self.size, self.views = size, views
    self.rows = {image_id: row for row, image_id in enumerate(self.image_ids)}
    self._weights = fingerprints.of(backbone.get_weights())
    self._arrays = self._open()

  def fill(self) -> "MapCache":
    """Computes what is missing."""
    done = self._index().get("done", 0)
    if done >= len(self.image_ids):
      return self
    with progress.bar(label="maps", total=len(self.image_ids), unit="picture") as bar:
      bar.update(done)
      for number, (found, content) in enumerate(self._computed(done)):
        rows = slice(done, done + len(content))
        self._arrays["content"][rows] = content
        for name, values in found.items():
          self._arrays[name][rows] = values
        done += len(content)
        bar.update(len(content))
        if number % _SAVE_EVERY == 0 or done == len(self.image_ids):
          self._flush(done)
    return self

  def read(self, rows: np.ndarray, views: np.ndarray) -> dict[str, np.ndarray]:
    """{"map_8": [B, ...], ..., "picture": [B, ...], "content": [B, 2]} of pictures and views."""
    return {
      name: np.stack([array[row, view] for row, view in zip(rows, views, strict=True)])
      for name, array in self._arrays.items()
    }

  def specs(self) -> dict[str, tf.TensorSpec]:
    """What `read` gives, for any number of pictures."""
    return {
      name: tf.TensorSpec([None, *array.shape[2:]], array.dtype)
      for name, array in self._arrays.items()
    }

  def _computed(self, start: int) -> tf.data.Dataset:
    """({"map_8": [B, views, ...], ...}, content [B, views, 2]), several batches at a time."""
    dataset = photographs.canvases(
      self.image_ids[start:], self.paths[start:], self.size, self.views
    ).batch(_BATCH)
    dataset = dataset.map(
      lambda placed, content: (self._compute(placed), content),
      num_parallel_calls=os.cpu_count(),
      deterministic=True,
    )
    return dataset.prefetch(2)

  def _compute(self, placed: tf.Tensor) -> dict[str, tf.Tensor]:
    placed = tf.reshape(placed, [-1, self.size, self.size, 3])  # [B views, S, S, 3]
    maps = self.backbone(placed)
    small = tf.cast(tf.round(colour_histogram.small_picture(placed)), tf.uint8)
    found = {f"map_{s}": tf.cast(maps[s], tf.float16) for s in maps} | {"picture": small}
    return {
      name: tf.reshape(value, [-1, self.views, *value.shape[1:]]) for name, value in found.items()
    }

  def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
    lead = (len(self.image_ids), self.views)
    shapes = {
      f"map_{stride}": ((*lead, self.size // stride, self.size // stride, channels), np.float16)
      for stride, channels in self.backbone.channels.items()
    }
    small = self.size // colour_histogram.POOL
    shapes["picture"] = ((*lead, small, small, 3), np.uint8)
    shapes["content"] = ((*lead, 2), np.float32)
    return shapes

  def _about(self) -> dict[str, Any]:
    return {
      "backbone": self.backbone.name,
      "weights": self._weights,
      "size": self.size,
      "strides": sorted(self.backbone.channels),
      "views": self.views,
      "image_ids": self.image_ids,
    }

  def _index(self) -> dict[str, Any]:
    path = self.folder / "index.json"
    return files.read_json(path, "cache index") if path.exists() else {}

  def _open(self) -> dict[str, np.ndarray]:
    index = self._index()
    if index and {name: index.get(name) for name in self._about()} != self._about():
      raise errors.UserError(
        f"{self.folder} holds the maps of other pictures, or of another backbone or size; "
        "remove the folder, or name another with --cache"
      )
    if not index:
      self.folder.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for name, (shape, dtype) in self._shapes().items():
      path = self.folder / f"{name}.npy"
      if index:
        arrays[name] = np.load(path, mmap_mode="r+")
      else:
        arrays[name] = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if not index:
      files.write_json(self.folder / "index.json", {"done": 0, **self._about()}, None)
    return arrays

  def _flush(self, done: int) -> None:
    for array in self._arrays.values():
      array.flush()
    files.write_json(self.folder / "index.json", {"done": done, **self._about()}, None)


def maps_of(batch: dict[str, tf.Tensor]) -> dict[int, tf.Tensor]:
  """{stride: map in float32} of a batch of cached maps."""
  return {
    int(name.removeprefix("map_")): tf.cast(value, tf.float32)
    for name, value in batch.items()
    if name.startswith("map_")
  }
