r"""Trains our detector on the annotated boxes of a dataset.

    python -m trainers.train_detector --source=data/flickr30k_entities \
      --pictures=data/flickr30k_images --run=runs/eyes --backbone_weights=efficientdet-lite0.tflite

It learns boxes, object words and colours from phrases that point to boxes. No captioner sees
that: it gets regions, never which word of a caption belongs to which box.

The backbone is frozen: its maps are computed once, into --cache (0.85 MB a picture). With --set
model.tuned_stride=16 its middle layers are learned too, at a tenth of the rate, and only the first
ones are computed once. Run the command again to go on after a stop. --fold=K/4 leaves a quarter of
the training pictures out, chosen by a hash of their ids, for labels that are cross-fitted;
--proposer=RUN keeps the backbone and boxes of a finished run and learns words and colours alone, in
minutes. The last line is one JSON object with the figures on the val split.
"""

import dataclasses
import json
import pathlib

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.training import detector_data
from gcap_tf.training.methods import detection
from trainers import training_flags

_SOURCE = flags.DEFINE_string("source", None, "Folder of Flickr30k Entities.", required=True)
_PICTURES = flags.DEFINE_string("pictures", None, "Folder of photographs.", required=True)
_RUN = flags.DEFINE_string("run", None, "Run folder.", required=True)
_CLASSES = flags.DEFINE_string(
  "object_classes",
  None,
  "File of object words, one a line; by default flickr30k_class_name.txt next to --source.",
)
_CACHE = flags.DEFINE_string("cache", None, "Folder of backbone maps; RUN/cache by default.")
_FOLD = flags.DEFINE_string("fold", None, "K/N leaves out fold K (from 0) of N.")
_PROPOSER = flags.DEFINE_string(
  "proposer", None, "Run of a detector, or shipped: keep its boxes, learn words and colours alone."
)
_BACKBONE = flags.DEFINE_string(
  "backbone", None, "lite0 (the default), lite2, or keras:NAME of keras.applications."
)
_WEIGHTS = flags.DEFINE_string(
  "backbone_weights",
  None,
  "imagenet (the default), none, a .weights.h5 file, or the .tflite file of an EfficientDet-Lite.",
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over the pictures.", 1)
_BATCH = flags.DEFINE_integer("batch_size", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "At its highest.")

flags.adopt_module_key_flags(training_flags)


def configuration() -> detection.DetectorTrainingConfig:
  """The flags as a configuration: flags, then `--set`."""
  given = {
    "epochs": _EPOCHS.value,
    "batch_size": _BATCH.value,
    "backbone_weights": _WEIGHTS.value,
    "proposer": _PROPOSER.value,
  }
  if _FOLD.value:
    given["fold"], given["folds"] = fold_of(_FOLD.value)
  config = detection.DetectorTrainingConfig()
  if _BACKBONE.value:
    given["model"] = dataclasses.replace(config.model, backbone=_BACKBONE.value)
  return training_flags.apply(config, _RATE.value, **given)


def fold_of(text: str) -> tuple[int, int]:
  """(fold, folds) of "1/4"."""
  fold, _, folds = text.partition("/")
  if not (fold.isdecimal() and folds.isdecimal() and int(fold) < int(folds)):
    raise errors.UserError(f"--fold={text}: write K/N with K from 0 to N - 1, such as 0/4")
  return int(fold), int(folds)


def sources() -> detector_data.Sources:
  beside = pathlib.Path(_SOURCE.value).resolve().parent / "flickr30k_class_name.txt"
  classes = _CLASSES.value or str(beside)
  if not pathlib.Path(classes).is_file():
    raise errors.UserError(
      f"object words {classes} are missing; name the file: --object_classes=FILE"
    )
  cache = _CACHE.value or str(pathlib.Path(_RUN.value) / "cache")
  return detector_data.Sources(_SOURCE.value, _PICTURES.value, classes, cache)


def main(argv: list[str]) -> None:
  del argv
  config, found = configuration(), sources()
  print(json.dumps(configs.to_dict(config), indent=2))
  with training_flags.started(config):
    figures = detection.train(found, config, _RUN.value, override=training_flags.override())
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
