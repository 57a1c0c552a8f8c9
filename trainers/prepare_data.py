r"""Raw files to a prepared folder: TFRecord shards, index, references and captions.

    python -m trainers.prepare_data --dataset=scenes --regions=noisy --out=data/scenes
    python -m trainers.prepare_data --dataset=flickr30k_entities --source=DIR --regions=perfect \
        --object_classes=FILE --out=DIR
    python -m trainers.prepare_data --dataset=flickr30k_entities --source=DIR --regions=pictures \
        --pictures=DIR --object_classes=FILE --out=DIR
    python -m trainers.prepare_data --check --out=DIR
"""

import dataclasses
import sys

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data.prepared import beam_prepare, prepare, prepared_check, prepared_data
from gcap_tf.data.readers import datasets
from gcap_tf.data.stores import simulated_detector
from gcap_tf.runs import detector_runs
from gcap_tf.vision.extraction import region_extractor

_DATASET = flags.DEFINE_string("dataset", "", f"one of {', '.join(datasets.DATASETS.names())}")
_SOURCE = flags.DEFINE_string("source", "", "folder of the raw data; scenes need none")
_REGIONS = flags.DEFINE_string(
  "regions",
  "",
  "perfect (the annotated boxes), noisy (a simulated detector), source (what the dataset "
  "brings), pictures (a detector looks at --pictures), or the folder of a region store; by default "
  "source where there is one, else perfect",
)
_PICTURES = flags.DEFINE_string(
  "pictures", "", "folder of photographs, for --regions=pictures; others are left out"
)
_DETECTOR = flags.DEFINE_string(
  "detector",
  region_extractor.SHIPPED,
  "what finds regions in --pictures: shipped, a run folder, keras_hub:PRESET, saved_model:DIR, "
  "tflite:FILE or detections:FILE",
)
_FOLDS = flags.DEFINE_list(
  "folds", [], "run folders of our detector: run K looks at the train pictures of fold K instead"
)
_OUT = flags.DEFINE_string("out", "", "the prepared folder; one prepared before is replaced")
_MAX_IMAGES = flags.DEFINE_integer("max_images", 0, "at most so many pictures a split; 0: all")
_MAX_REGIONS = flags.DEFINE_integer("max_regions", 0, "at most so many regions a picture; 0: all")
_OBJECT_CLASSES = flags.DEFINE_string(
  "object_classes", "", "file of object classes, one a line; by default found in the data"
)
_SPLITS = flags.DEFINE_list("splits", [], "which splits; by default all of the source")
_SHARDS = flags.DEFINE_integer("shards", 8, "files of a split, at most")
_SCENES_TRAIN = flags.DEFINE_integer("scenes_train", None, "scenes to draw for training")
_SCENES_VAL = flags.DEFINE_integer("scenes_val", None, "scenes to draw for validation")
_SCENES_TEST = flags.DEFINE_integer("scenes_test", None, "scenes to draw for testing")
_NOISY_LEVEL = flags.DEFINE_enum(
  "noisy_level", "default", list(simulated_detector.LEVELS), "how misleading the noisy detector is"
)
_SET = flags.DEFINE_multi_string(
  "set", [], "further options, such as noisy.regions=20 or scenes.seed=3; may be repeated"
)
_WORKERS = flags.DEFINE_integer("workers", 0, "processes; 0: as many as help", lower_bound=0)
_RUNNER = flags.DEFINE_enum(
  "runner", prepare.LOCAL, [prepare.LOCAL, *beam_prepare.RUNNERS], "local processes, or Beam"
)
_BEAM_OPTIONS = flags.DEFINE_multi_string(
  "beam_options", [], "an option of Beam, such as --flink_master=HOST:PORT; may be repeated"
)
_CHECK = flags.DEFINE_bool("check", False, "verify --out to the last byte and report on it")


def chosen_config() -> prepare.PrepareConfig:
  """The configuration that the flags name."""
  config = prepare.PrepareConfig(
    dataset=_DATASET.value,
    source=_SOURCE.value,
    regions=_REGIONS.value,
    splits=tuple(_SPLITS.value),
    max_images=_MAX_IMAGES.value,
    max_regions=_MAX_REGIONS.value,
    pictures=_PICTURES.value,
    detector=_DETECTOR.value,
    folds=tuple(_FOLDS.value),
    object_classes=_OBJECT_CLASSES.value,
    shards=_SHARDS.value,
    noisy=simulated_detector.LEVELS[_NOISY_LEVEL.value],
  )
  scenes = {
    name: flag.value
    for name, flag in (("train", _SCENES_TRAIN), ("val", _SCENES_VAL), ("test", _SCENES_TEST))
    if flag.value is not None
  }
  config = dataclasses.replace(config, scenes=dataclasses.replace(config.scenes, **scenes))
  return configs.override(config, _SET.value)


def main(argv: list[str]) -> int:
  del argv
  if not _OUT.value:
    raise errors.UserError("--out is missing: name the prepared folder")
  if _CHECK.value:
    return _check(_OUT.value)
  if not _DATASET.value:
    raise errors.UserError(
      f"--dataset is missing: choose one of {', '.join(datasets.DATASETS.names())}"
    )
  config = chosen_config()
  data = prepare.prepare(
    config, _OUT.value, _WORKERS.value, _RUNNER.value, _BEAM_OPTIONS.value, detector_runs.load
  )
  print(_summary(data))
  return 0


def _check(folder: str) -> int:
  report = prepared_check.check(folder)
  print(report.text())
  for fault in report.faults:
    print(f"error: {fault}", file=sys.stderr)
  print(f"{folder}: {len(report.faults)} faults" if report.faults else f"{folder} is whole")
  return 1 if report.faults else 0


def _summary(data: prepared_data.PreparedData) -> str:
  pictures = ", ".join(
    f"{counts['pictures']:,} {split}" for split, counts in data.info["splits"].items()
  )
  return (
    f"{data.folder}: {pictures} pictures; up to {data.max_regions} regions, "
    f"features of {data.feature_size}, {len(data.object_classes)} object classes"
  )


if __name__ == "__main__":
  errors.run(main)
