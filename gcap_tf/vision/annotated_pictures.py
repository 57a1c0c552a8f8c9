"""The annotated pictures of a split whose photographs are in a folder."""

import pathlib
from collections.abc import Callable

from gcap_tf import errors, files, progress
from gcap_tf.data.readers import flickr_entities
from gcap_tf.text import object_words
from gcap_tf.vision import annotations
from gcap_tf.vision import pictures as picture_files


def read(
  source: files.PathLike,
  pictures: files.PathLike,
  split: str,
  classes: object_words.ObjectClasses,
  wanted: Callable[[str], bool] = lambda image_id: True,
  max_pictures: int = 0,
) -> tuple[list[annotations.Picture], list[pathlib.Path]]:
  """Every picture of the split that has a photograph, and where it is, in the order of the split.

  Args:
    source: folder of Flickr30k Entities.
    pictures: folder of photographs, named by the pictures' ids.
    split: its name.
    classes: the words that are learned.
    wanted: whether to take a picture, by its id.
    max_pictures: at most so many; 0 takes all.
  """
  entities = flickr_entities.FlickrEntities(source, classes)
  if split not in entities.splits:
    raise errors.UserError(f"{source} has no split {split!r}; it has {', '.join(entities.splits)}")
  found = picture_files.find(pictures)
  ids = [name for name in entities.image_ids(split) if name in found and wanted(name)]
  if not ids:
    raise errors.UserError(
      f"{pictures} holds no photograph of the split {split!r}; their names are the pictures' ids"
    )
  ids = ids[: max_pictures or None]
  annotated = [
    annotations.of_record(entities.record(image_id, split), classes)
    for image_id in progress.bar(ids, label=f"reading {split}", unit="picture")
  ]
  return annotated, [found[image_id] for image_id in ids]
