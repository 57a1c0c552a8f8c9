"""Draws the regions of a store on their photographs."""

import pathlib
from collections.abc import Mapping

from PIL import Image

from gcap_tf import files, progress
from gcap_tf.data import records
from gcap_tf.data.stores import feature_folders
from gcap_tf.vision import pictures
from gcap_tf.vision import regions as region_features
from gcap_tf.visuals import region_pictures

_SURE = 0.5


def draw(
  store: feature_folders.FolderStore, image_id: str, path: pathlib.Path, shown: int
) -> Image.Image:
  """A photograph with the best `shown` regions: colour, word and score of each.

  A colour is written if the detector is surer of it than not.
  """
  found = store.get(image_id)
  width, height = store.size(image_id)
  tags = []
  for row in range(min(shown, found.count)):
    colour = found.colours[row] if _colour_share(store, found, row) > _SURE else ""
    tags.append(region_pictures.tag(found.labels[row], colour, float(found.scores[row])))
  boxes = found.boxes_px[:shown] / [width, height, width, height]
  return region_pictures.regions(pictures.read(path), boxes, tags)


def _colour_share(store: feature_folders.FolderStore, found: records.Regions, row: int) -> float:
  start, end = store.info.columns["colours"]
  return float(((found.features[row, start:end] / region_features.SCALE) ** 2).max())


def draw_all(
  store: feature_folders.FolderStore,
  paths: Mapping[str, pathlib.Path],
  out: files.PathLike,
  shown: int = region_pictures.SHOWN,
) -> None:
  """Writes OUT/ID.jpg for every picture that the store has."""
  listed = [(image_id, path) for image_id, path in paths.items() if image_id in store]
  for image_id, path in progress.bar(listed, label="Drawing", unit="picture"):
    with files.atomic_path(pathlib.Path(out) / f"{image_id}.jpg") as partial:
      draw(store, image_id, path, shown).save(partial, "JPEG", quality=90)
