r"""Photographs to a region store: boxes, features, labels, colours, grid and global feature.

    python -m trainers.extract_regions --pictures=photos --out=regions
    python -m trainers.extract_regions --pictures=photos --out=regions --detector=tflite:FILE
    python -m trainers.extract_regions --pictures=photos --out=regions --cross_fit \
      --detector=runs/fold0,runs/fold1,runs/fold2,runs/fold3 --train_ids=train.txt

Run the same command again after a stop: it goes on, and the store has the same bytes. Pictures that
cannot be read are named at the end, with exit code 1. Our detector has seen annotated boxes of
its training pictures, and is far surer of them: --cross_fit gives each of them to the run that
has not seen it. `trainers.caption --regions` and `prepare_data --regions` read the store.
"""

import sys

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors, locks

_PICTURES = flags.DEFINE_list("pictures", None, "Folder of pictures, or files.", required=True)
_OUT = flags.DEFINE_string("out", None, "Folder of the store.", required=True)
_DETECTOR = flags.DEFINE_list(
  "detector",
  ["shipped"],
  "shipped, a run folder, keras_hub:PRESET, saved_model:DIR, tflite:FILE or detections:FILE; "
  "with --cross_fit one run folder a fold",
)
_DESCRIBER = flags.DEFINE_string(
  "describer", "shipped", "Our detector that describes the boxes of another one."
)
_REGIONS = flags.DEFINE_integer("regions", 36, "At most so many regions of a picture.", 1)
_MIN_SCORE = flags.DEFINE_float(
  "min_score", 0.0, "Leaves out regions that are scored lower; the best one stays."
)
_CLASS_NAMES = flags.DEFINE_string(
  "class_names", "", "Class names of another detector, one a line, if they are not the usual ones."
)
_CROSS_FIT = flags.DEFINE_bool(
  "cross_fit", False, "Run K of --detector looks at the pictures of fold K, which it has not seen."
)
_TRAIN_IDS = flags.DEFINE_string(
  "train_ids", "", "File of picture ids that --cross_fit is for; by default all."
)
_REST = flags.DEFINE_string(
  "rest_detector", "shipped", "With --cross_fit, looks at all other pictures."
)
_DRAW = flags.DEFINE_string("draw", None, "Folder for the pictures with their regions drawn.")
_WORKERS = flags.DEFINE_integer("workers", 0, "Processes; 0: one a core.", 0)
_RUNNER = flags.DEFINE_enum(
  "runner",
  "local",
  ["local", "DirectRunner", "FlinkRunner", "SparkRunner", "DataflowRunner"],
  "Local processes, or a runner of Apache Beam.",
)
_BEAM_OPTIONS = flags.DEFINE_multi_string(
  "beam_options", [], "An option of Beam, such as --flink_master=HOST:PORT; may be repeated."
)


def configuration():
  """The flags as an `ExtractionConfig`."""
  names = tuple(_DETECTOR.value)
  if len(names) != 1 and not _CROSS_FIT.value:
    raise errors.UserError("--detector names several: add --cross_fit, or name one")
  if len(names) == 1 and _CROSS_FIT.value:
    raise errors.UserError("--cross_fit needs a run folder for each fold: --detector=RUN0,RUN1")
  from gcap_tf.vision.detectors import catalog
  from gcap_tf.vision.extraction import region_extractor

  for flag in (_DESCRIBER, _CLASS_NAMES):
    if flag.value != flag.default and not catalog.is_foreign(names[0]):
      raise errors.UserError(
        f"--{flag.name} is for a detector of another program, and --detector={names[0]} is ours; "
        "leave it out"
      )
  config = region_extractor.ExtractionConfig(
    detector=_REST.value if _CROSS_FIT.value else names[0],
    describer=_DESCRIBER.value,
    folds=names if _CROSS_FIT.value else (),
    train_ids=_TRAIN_IDS.value,
    regions=_REGIONS.value,
    min_score=_MIN_SCORE.value,
    class_names=_CLASS_NAMES.value,
  )
  return configs.check(config, "")


def main(argv: list[str]) -> int:
  del argv
  config = configuration()
  from gcap_tf.runs import detector_runs
  from gcap_tf.vision import pictures
  from gcap_tf.vision.extraction import beam, local

  found = pictures.find(_PICTURES.value)
  with locks.hold(_OUT.value):
    if _RUNNER.value == local.LOCAL:
      done = local.extract(found, _OUT.value, config, detector_runs.load, _WORKERS.value)
    else:
      done = beam.extract(
        found, _OUT.value, config, detector_runs.load, _RUNNER.value, _BEAM_OPTIONS.value
      )
  if _DRAW.value:
    from gcap_tf.data.stores import feature_folders
    from gcap_tf.visuals import store_pictures

    store_pictures.draw_all(feature_folders.FolderStore(_OUT.value), found, _DRAW.value)
  for problem in done.problems:
    print(f"error: {problem}", file=sys.stderr)
  print(done.summary(_OUT.value))
  return 1 if done.problems else 0


if __name__ == "__main__":
  errors.run(main)
