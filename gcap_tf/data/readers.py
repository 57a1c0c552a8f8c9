"""Dataset readers by the names of `--dataset`."""

from collections.abc import Iterator, Sequence
from typing import Any

from gcap_tf import files, registry
from gcap_tf.data import coco, flickr_entities, instapic, karpathy, precomp, reader, records

READERS: registry.Registry[type[reader.Reader]] = registry.Registry("dataset")
READERS.register("flickr30k_entities")(flickr_entities.FlickrEntities)
READERS.register("karpathy")(karpathy.Karpathy)
READERS.register("coco")(coco.COCO)
READERS.register("scan_precomp")(precomp.Precomp)
READERS.register("instapic")(instapic.InstaPIC)


def open_source(name: str, source: files.PathLike, **options: Any) -> reader.Reader:
  """A reader of the dataset `name` at `source`; `options` are its constructor's."""
  return READERS.get(name)(source, **options)


def read(
  name: str,
  source: files.PathLike,
  splits: Sequence[str] | None = None,
  max_images: int | None = None,
  progress: bool = True,
  **options: Any,
) -> Iterator[records.Record]:
  """Yields the pictures of a dataset, split by split, in order.

  Args:
    name: one of `READERS.names()`.
    source: the dataset's folder or file.
    splits: which; all by default.
    max_images: at most so many pictures of each split.
    progress: draw a bar on standard error.
    **options: of the reader: `classes`, `merge` and its own.
  """
  yield from open_source(name, source, **options).read(splits, max_images, progress)
