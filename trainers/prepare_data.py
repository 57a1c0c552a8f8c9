r"""Turns raw files into a prepared folder: TFRecord shards, index, references and captions.

    python -m trainers.prepare_data --dataset=scenes --regions=noisy --out=data/scenes
    python -m trainers.prepare_data --dataset=flickr30k_entities --source=DIR --regions=perfect \
        --object_classes=FILE --out=DIR
    python -m trainers.prepare_data --dataset=flickr30k_entities --source=DIR --regions=pictures \
        --pictures=DIR --object_classes=FILE --out=DIR
    python -m trainers.prepare_data --dataset=scenes --video --regions=noisy --out=data/videos
    python -m trainers.prepare_data --dataset=activitynet_entities --source=DIR --regions=STORE \
        --out=DIR
    python -m trainers.prepare_data --check --out=DIR
"""

import dataclasses
import sys

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors, locks, printing

DATASETS = (
  "activitynet_entities",
  "coco",
  "flickr30k_entities",
  "instapic",
  "karpathy",
  "scan_precomp",
  "scenes",
)

_DATASET = flags.DEFINE_string("dataset", "", f"One of {', '.join(DATASETS)}.")
_SOURCE = flags.DEFINE_string("source", "", "Folder of the raw data; scenes need none.")
_REGIONS = flags.DEFINE_string(
  "regions",
  "",
  "perfect (the annotated boxes), noisy (a simulated detector), source (the regions of the "
  "dataset), pictures (a detector looks at --pictures), none (captions and references alone), or "
  "the folder of a region store. "
  "Default: source if the dataset has regions, else perfect.",
)
_PICTURES = flags.DEFINE_string(
  "pictures",
  "",
  "Folder of photographs, or of clips named by segment or video, for --regions=pictures; see "
  "--without_pictures. Drawn videos carry their frames and need none.",
)
_DETECTOR = flags.DEFINE_string(
  "detector",
  "shipped",
  "What finds regions in --pictures: shipped, a run folder, keras_hub:PRESET, saved_model:DIR, "
  "tflite:FILE or detections:FILE.",
)
_FOLDS = flags.DEFINE_list(
  "folds", [], "Run folders of our detector: run K looks at the train pictures of fold K instead."
)
_WITHOUT_PICTURES = flags.DEFINE_enum(
  "without_pictures",
  "leave_out",
  ["leave_out", "labels", "borrow"],
  "Train records whose photograph is not in --pictures: leave_out, labels (regions of their "
  "annotated boxes and the words of phrases, without pixels), or borrow (for each of their "
  "boxes, regions of a photograph at a box that phrases call the same).",
)
_OUT = flags.DEFINE_string("out", "", "The prepared folder; an old one is replaced.")
_MAX_IMAGES = flags.DEFINE_integer("max_images", 0, "Most pictures of a split; 0: all.", 0)
_MAX_REGIONS = flags.DEFINE_integer("max_regions", 0, "Most regions of a picture; 0: all.", 0)
_OBJECT_CLASSES = flags.DEFINE_string(
  "object_classes", "", "File of object classes, one a line; default: found in the data."
)
_SPLITS = flags.DEFINE_list("splits", [], "Which splits; default: all of the source.")
_HOLDOUT = flags.DEFINE_integer(
  "holdout", 0, "Pictures of train and val that become the val split; 0 keeps the dataset's.", 0
)
_SHARDS = flags.DEFINE_integer("shards", 8, "Most files of a split.", 1)
_SCENES_TRAIN = flags.DEFINE_integer("scenes_train", None, "Scenes to draw for training.", 0)
_SCENES_VAL = flags.DEFINE_integer("scenes_val", None, "Scenes to draw for validation.", 0)
_SCENES_TEST = flags.DEFINE_integer("scenes_test", None, "Scenes to draw for testing.", 0)
_VIDEO = flags.DEFINE_bool("video", False, "Scenes: draws segments of videos instead of pictures.")
_NOISY_LEVEL = flags.DEFINE_enum(
  "noisy_level", "default", ["clean", "mild", "default", "hard"], "Noise of the noisy detector."
)
_SET = flags.DEFINE_multi_string(
  "set", [], "Any option, as key.path=value; --set=help lists them all. May be repeated."
)
_WORKERS = flags.DEFINE_integer("workers", 0, "Processes; 0: as many as help.", 0)
_RUNNER = flags.DEFINE_enum(
  "runner",
  "local",
  ["local", "DirectRunner", "FlinkRunner", "SparkRunner", "DataflowRunner"],
  "Local processes, or a runner of Apache Beam.",
)
_BEAM_OPTIONS = flags.DEFINE_multi_string(
  "beam_options", [], "An option of Beam, such as --flink_master=HOST:PORT; may be repeated."
)
_CHECK = flags.DEFINE_bool("check", False, "Verifies every byte of --out and reports on it.")


def configuration():
  """The flags as a `PrepareConfig`; `--set` has the last word."""
  from gcap_tf.data.prepared import prepare
  from gcap_tf.data.stores import simulated_detector

  config = prepare.PrepareConfig(
    dataset=_DATASET.value,
    source=_SOURCE.value,
    regions=_REGIONS.value,
    splits=tuple(_SPLITS.value),
    holdout=_HOLDOUT.value,
    max_images=_MAX_IMAGES.value,
    max_regions=_MAX_REGIONS.value,
    pictures=_PICTURES.value,
    detector=_DETECTOR.value,
    folds=tuple(_FOLDS.value),
    without_pictures=_WITHOUT_PICTURES.value,
    object_classes=_OBJECT_CLASSES.value,
    shards=_SHARDS.value,
    noisy=simulated_detector.LEVELS[_NOISY_LEVEL.value],
  )
  scenes = {
    name: flag.value
    for name, flag in (("train", _SCENES_TRAIN), ("val", _SCENES_VAL), ("test", _SCENES_TEST))
    if flag.value is not None
  }
  scenes = dataclasses.replace(config.scenes, **scenes, video=_VIDEO.value)
  config = dataclasses.replace(config, scenes=scenes)
  return configs.override(config, [text for text in _SET.value if text != "help"])


def main(argv: list[str]) -> int:
  del argv
  if "help" in _SET.value:
    print(configs.table(configs.describe(configuration())))
    return 0
  if not _OUT.value:
    raise errors.UserError("--out is missing: name the prepared folder")
  if _CHECK.value:
    return _check(_OUT.value)
  if not _DATASET.value:
    raise errors.UserError(f"--dataset is missing: choose one of {', '.join(DATASETS)}")
  from gcap_tf.data.prepared import prepare

  open_run = None
  if _REGIONS.value == "pictures":
    from gcap_tf.runs import detector_runs

    open_run = detector_runs.load
  config = configuration()
  with locks.hold(_OUT.value):
    data = prepare.prepare(
      config, _OUT.value, _WORKERS.value, _RUNNER.value, _BEAM_OPTIONS.value, open_run
    )
  print(_summary(data))
  return 0


def _check(folder: str) -> int:
  from gcap_tf.data.prepared import prepared_check

  report = prepared_check.check(folder)
  print(report.text())
  for fault in report.faults:
    print(f"error: {fault}", file=sys.stderr)
  found = printing.count(len(report.faults), "fault")
  print(f"{folder}: {found}" if report.faults else f"{folder} is whole")
  return 1 if report.faults else 0


def _summary(data) -> str:
  pictures = ", ".join(
    f"{counts['pictures']:,} {split}" for split, counts in data.info["splits"].items()
  )
  return (
    f"{data.folder}: {pictures} pictures; up to {data.max_regions} regions, "
    f"features of {data.feature_size}, {len(data.object_classes)} object classes"
  )


if __name__ == "__main__":
  errors.run(main)
