"""Raw files to a prepared folder: read, add regions, tag, check, write.

The folder appears whole or not at all: work goes on in a hidden folder next to it, which
is renamed at the end. The next run removes leftovers of a killed one.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from absl import logging

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import (
  beam_prepare,
  borrowed_regions,
  labelled_regions,
  prepared_data,
  prepared_writer,
  region_sources,
  shard_jobs,
)
from gcap_tf.data.readers import datasets, held_out, reader
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from gcap_tf.text import object_words

if TYPE_CHECKING:
  from gcap_tf.vision.extraction import region_extractor

LOCAL = "local"
WORTH_A_WORKER = 500  # pictures that take longer than starting a process


@dataclasses.dataclass(frozen=True)
class PrepareConfig:
  """Everything that decides the bytes of a prepared folder.

  Attributes:
    dataset: a name of `datasets.DATASETS`.
    source: folder or file of the raw data.
    regions: "perfect", "noisy", "source", "pictures", "none" or the path of a region store; "" is
      the dataset's default: its own regions if it has some, else "perfect".
    pictures: folder of photographs, or of clips of videos, for regions="pictures"; drawn videos
      carry their frames and need none.
    detector: what finds regions in them; see `region_extractor.ExtractionConfig`.
    folds: run folders of our detector that cross-fit the train split.
    without_pictures: what becomes of train records without a photograph: "leave_out"; "labels"
      or "borrow", which make their regions from annotated boxes.
    splits: which to read; () is all.
    holdout: pictures of train and val that become the val split; 0 keeps the dataset's own.
    max_images: the most pictures of each split; 0 is all.
    max_regions: the most regions of each picture; 0 is all.
    object_classes: file of object classes, one per line; "" takes the dataset's own.
    shards: files of each split, at most.
    scenes: of the dataset "scenes".
    noisy: of the "noisy" detector.
    labelled: of regions that are made of annotated boxes.
    borrow: of regions that are borrowed from photographs.
  """

  dataset: str
  source: str = ""
  regions: str = ""
  splits: tuple[str, ...] = ()
  holdout: configs.Count = 0
  max_images: configs.Count = 0
  max_regions: configs.Count = 0
  pictures: str = ""
  detector: str = "shipped"
  folds: tuple[str, ...] = ()
  without_pictures: Literal["leave_out", "labels", "borrow"] = "leave_out"
  object_classes: str = ""
  shards: configs.PositiveInt = 8
  scenes: drawn_scenes.SceneConfig = dataclasses.field(default_factory=drawn_scenes.SceneConfig)
  noisy: simulated_detector.NoisyConfig = dataclasses.field(
    default_factory=simulated_detector.NoisyConfig
  )
  labelled: labelled_regions.LabelledConfig = dataclasses.field(
    default_factory=labelled_regions.LabelledConfig
  )
  borrow: borrowed_regions.BorrowConfig = dataclasses.field(
    default_factory=borrowed_regions.BorrowConfig
  )


def prepare(
  config: PrepareConfig,
  out: files.PathLike,
  workers: int = 0,
  runner: str = LOCAL,
  beam_options: Sequence[str] = (),
  open_run: "region_extractor.OpenRun | None" = None,
) -> prepared_data.PreparedData:
  """Writes the prepared folder `out`; the same bytes whatever the workers or the runner.

  Args:
    config: what to prepare.
    out: the folder; one that was prepared before is replaced.
    workers: processes of the local runner; 0 is one per core, if there is enough to do.
    runner: "local" or one of `beam_prepare.RUNNERS`.
    beam_options: for a Beam runner.
    open_run: loads a run of our detector, for regions="pictures".
  """
  configs.check(config, "")
  if config.without_pictures != "leave_out" and config.regions != region_sources.PICTURES:
    raise errors.UserError(
      f"--without_pictures={config.without_pictures} goes with --regions={region_sources.PICTURES}"
    )
  out = pathlib.Path(out)
  check_replaceable(out)
  given = object_words.ObjectClasses.load(config.object_classes) if config.object_classes else None
  source = open_source(config, given)
  splits = datasets.choose_splits(source, config.splits)
  listed = {split: source.image_ids(split) for split in splits}
  reader.refuse_shared_pictures(listed, str(source.source))
  if config.regions == region_sources.PICTURES:
    regions, listed = _extracted(config, source, listed, out, workers, open_run)
  else:
    listed = {split: ids[: config.max_images or None] for split, ids in listed.items()}
    regions = region_sources.choose(
      config.regions, config.dataset, config.noisy, config.max_regions
    )
    listed = region_sources.readable(regions, listed)
  classes = given or getattr(source, "classes", None)
  counts = ", ".join(f"{len(ids):,} {split}" for split, ids in listed.items())
  logging.info("Preparing %s of %s into %s", counts, config.dataset, out)
  with _new_folder(out) as folder:
    todo = shard_jobs.tasks(folder, listed, config.shards)
    job = shard_jobs.Job(source, regions)
    if runner == LOCAL:
      summaries = shard_jobs.run(job, todo, workers or enough_workers(listed))
    else:
      summaries = beam_prepare.run(job, todo, runner, beam_options)
    prepared_writer.finish(
      folder,
      summaries,
      dataset=config.dataset,
      command=command(config),
      detector=regions.describe(),
      object_classes=classes.names if classes else None,
    )
  return prepared_data.PreparedData(out)


def _extracted(
  config: PrepareConfig, source: reader.Reader, listed, out: pathlib.Path, workers: int, open_run
):
  """The regions of photographs or of clips, and the pictures or segments that have some."""
  # Only this kind of regions needs TensorFlow.
  from gcap_tf.data.prepared import clip_sources, picture_regions
  from gcap_tf.vision.extraction import region_extractor

  of_clips = clip_sources.are_wanted(source, listed)
  kept_all = config.without_pictures != picture_regions.LEAVE_OUT
  if kept_all and (of_clips or not datasets.DATASETS.get(config.dataset).annotated):
    raise errors.UserError(
      f"--without_pictures={config.without_pictures} needs photographs with annotated boxes, which "
      f"{config.dataset} does not have"
    )
  extraction = region_extractor.ExtractionConfig(
    detector=config.detector,
    folds=config.folds,
    regions=config.max_regions or (clip_sources if of_clips else picture_regions).REGIONS,
  )
  if of_clips:
    return clip_sources.choose(
      config.pictures, source, listed, config.max_images, extraction, open_run
    )
  found = picture_regions.present(
    config.pictures, listed, config.max_images, config.without_pictures
  )
  regions, kept = picture_regions.extract(found, out, extraction, open_run, workers)
  if kept_all:
    train = kept.get(picture_regions.TRAIN, [])
    pictures = found.get(picture_regions.TRAIN, {})
    without = [image_id for image_id in train if pictures[image_id] is None]
    regions = picture_regions.with_labels(
      regions,
      without,
      (source.record(image_id, picture_regions.TRAIN) for image_id in train),
      extraction,
      open_run,
      config.labelled,
    )
    if config.without_pictures == picture_regions.BORROW:
      present = (image_id for image_id in train if pictures[image_id])
      regions = picture_regions.with_borrowed(
        regions,
        (source.record(image_id, picture_regions.TRAIN) for image_id in present),
        config.borrow,
      )
  return regions, kept


def enough_workers(listed: Mapping[str, Sequence[str]]) -> int:
  """One process per core, but at most one per WORTH_A_WORKER pictures and one more."""
  pictures = sum(len(ids) for ids in listed.values())
  return min(os.cpu_count() or 1, 1 + pictures // WORTH_A_WORKER)


def open_source(
  config: PrepareConfig, classes: object_words.ObjectClasses | None = None
) -> reader.Reader:
  """The reader of the raw data; `classes` replace the dataset's own object classes."""
  entry = datasets.DATASETS.get(config.dataset)
  if entry.needs_source and not config.source:
    raise errors.UserError(
      f"--dataset={config.dataset} is read from files: give their folder as --source=DIR"
    )
  if entry.needs_source and not pathlib.Path(config.source).exists():
    raise errors.UserError(f"--source={config.source} does not exist")
  source = entry.open(config.source, classes, config.scenes)
  return held_out.HeldOut(source, config.holdout) if config.holdout else source


def command(config: PrepareConfig) -> str:
  """The command line that makes the same folder, without --out."""
  usual = configs.to_dict(PrepareConfig(config.dataset))
  words = [f"--dataset={config.dataset}"]
  for name, value in configs.to_dict(config).items():
    if isinstance(value, dict):
      words += [
        f"--set={name}.{inner}={chosen if isinstance(chosen, str) else json.dumps(chosen)}"
        for inner, chosen in value.items()
        if chosen != usual[name][inner]
      ]
    elif value != usual[name]:
      words.append(f"--{name}={','.join(value) if isinstance(value, list) else value}")
  return f"python -m trainers.prepare_data {shlex.join(words)}"


def check_replaceable(out: pathlib.Path) -> None:
  """Refuses to replace anything but a prepared folder, or nothing."""
  if not out.exists():
    return
  if not out.is_dir():
    raise errors.UserError(f"--out={out} is a file; name a folder")
  names = {path.name for path in out.iterdir()}
  if not names:
    return
  info = files.read_json(out / "dataset.json", "in --out,") if "dataset.json" in names else {}
  if not isinstance(info, dict) or info.get("format") != prepared_writer.FORMAT:
    raise errors.UserError(
      f"--out={out} holds something other than prepared data; choose another folder or empty it"
    )
  foreign = names - set(info["files"]) - {"dataset.json"}
  if foreign:
    raise errors.UserError(
      f"--out={out} holds a file that is not of prepared data ({min(foreign)}), which would be "
      "lost; move it away or choose another folder"
    )


@contextlib.contextmanager
def _new_folder(out: pathlib.Path) -> Iterator[pathlib.Path]:
  """A hidden folder that takes the place of `out` when the block succeeds."""
  _remove_leftovers(out)
  with files.atomic_path(out) as partial:
    partial.mkdir()
    yield partial
  _remove_leftovers(out)


def _remove_leftovers(out: pathlib.Path) -> None:
  """Removes hidden folders next to `out` whose process has ended, or is this one."""
  for kind in ("partial", "old"):
    for path in out.parent.glob(f".{out.name}.{kind}-*"):
      owner = path.name.rpartition("-")[2]
      if owner.isdecimal() and (int(owner) == os.getpid() or not _runs(int(owner))):
        files.remove(path)


def _runs(process: int) -> bool:
  try:
    os.kill(process, 0)
  except ProcessLookupError:
    return False
  except PermissionError:
    return True
  return True
