"""The datasets that can be prepared, by name."""

import dataclasses
from collections.abc import Callable, Sequence

from gcap_tf import errors, registry
from gcap_tf.data import records
from gcap_tf.data.readers import (
  activitynet,
  coco,
  flickr_entities,
  instapic,
  karpathy,
  precomp,
  reader,
)
from gcap_tf.data.scenes import drawn_scenes, drawn_videos
from gcap_tf.text import object_words

Opener = Callable[[str, object_words.ObjectClasses | None, drawn_scenes.SceneConfig], reader.Reader]


@dataclasses.dataclass(frozen=True)
class Dataset:
  """A dataset that users can name.

  Attributes:
    open: makes the reader of (source, object classes or None, scene configuration).
    annotated: objects are annotated with boxes, so that a detector can be simulated.
    own_regions: regions come with the dataset.
    needs_source: it is read from files.
  """

  open: Opener
  annotated: bool = False
  own_regions: bool = False
  needs_source: bool = True


class SceneReader(reader.Reader):
  """Drawn scenes in the shape of a dataset on disk; the id of a picture is its number."""

  def __init__(self, config: drawn_scenes.SceneConfig):
    names = drawn_videos.class_names() if config.video else drawn_scenes.class_names()
    super().__init__("drawn scenes", object_words.ObjectClasses(names))
    self.config = config

  @property
  def classes(self) -> object_words.ObjectClasses:
    return self._classes

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(name for name in ("train", "val", "test") if getattr(self.config, name))

  def image_ids(self, split: str) -> Sequence[str]:
    start = self._start(split)
    return [str(number) for number in range(start, start + getattr(self.config, split))]

  def record(self, image_id: str, split: str) -> records.Record:
    if not self.config.video:
      return drawn_scenes.record(self.config, int(image_id))
    number = int(image_id) - self._start(split)
    return drawn_videos.record(self.config, split, number, getattr(self.config, split))

  def _start(self, split: str) -> int:
    before = {"train": 0, "val": self.config.train, "test": self.config.train + self.config.val}
    return before[split]


DATASETS: registry.Registry[Dataset] = registry.Registry("dataset")
DATASETS.register("flickr30k_entities")(
  Dataset(
    lambda source, classes, _: flickr_entities.FlickrEntities(source, classes), annotated=True
  )
)
DATASETS.register("activitynet_entities")(
  Dataset(
    lambda source, classes, _: activitynet.ActivityNetEntities(source, classes), annotated=True
  )
)
DATASETS.register("coco")(
  Dataset(lambda source, classes, _: coco.COCO(source, classes), annotated=True)
)
DATASETS.register("karpathy")(
  Dataset(lambda source, classes, _: karpathy.Karpathy(source, classes))
)
DATASETS.register("scan_precomp")(
  Dataset(lambda source, classes, _: precomp.Precomp(source, classes), own_regions=True)
)
DATASETS.register("instapic")(
  Dataset(lambda source, classes, _: instapic.InstaPIC(source, classes))
)
DATASETS.register("scenes")(
  Dataset(lambda _, __, config: SceneReader(config), annotated=True, needs_source=False)
)


def choose_splits(source: reader.Reader, wanted: Sequence[str]) -> tuple[str, ...]:
  """The splits to read; one that the source lacks is a `UserError`."""
  for split in wanted:
    if split not in source.splits:
      raise errors.UserError(
        f'{source.source} has no split "{split}"; it has {", ".join(source.splits) or "none"}'
      )
  return tuple(wanted) or source.splits
