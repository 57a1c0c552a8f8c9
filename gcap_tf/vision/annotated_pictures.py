"""The annotated pictures of a split whose photographs are in a folder."""

import pathlib
from collections.abc import Callable

from gcap_tf import errors, files, progress
from gcap_tf.data.readers import flickr_entities
from gcap_tf.text import object_words
from gcap_tf.vision import annotations

ENDING = ".jpg"


def read(
  source: files.PathLike,
  pictures: files.PathLike,
  split: str,
  classes: object_words.ObjectClasses,
  wanted: Callable[[str], bool] = lambda image_id: True,
  max_pictures: int = 0,
) -> list[annotations.Picture]:
  """Every picture of the split that has a photograph, in the order of the split list.

  Args:
    source: folder of Flickr30k Entities.
    pictures: folder of photographs, `ID.jpg`.
    split: its name.
    classes: the words that are learned.
    wanted: whether to take a picture, by its id.
    max_pictures: at most so many; 0 takes all.
  """
  entities = flickr_entities.FlickrEntities(source, classes)
  if split not in entities.splits:
    raise errors.UserError(
      f"{source} has no split {split!r}; it has {', '.join(entities.splits)}"
    )
  ids = [
    image_id
    for image_id in entities.image_ids(split)
    if wanted(image_id) and path(pictures, image_id).is_file()
  ]
  if not ids:
    raise errors.UserError(
      f"{pictures} holds no photograph of the split {split!r} (expected ID{ENDING} there)"
    )
  ids = ids[: max_pictures or None]
  return [
    annotations.of_record(entities.record(image_id, split), classes)
    for image_id in progress.bar(ids, label=f"reading {split}", unit="picture")
  ]


def path(pictures: files.PathLike, image_id: str) -> pathlib.Path:
  """Where the photograph of a picture is."""
  return pathlib.Path(pictures) / f"{image_id}{ENDING}"
