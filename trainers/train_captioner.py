"""Trains a captioner: Up-Down, GVD, Distributed, Cyclical, AdaptiveAttention, Neuraltalk2.

    python -m trainers.train_captioner --data=data/scenes --model=updown --run=runs/updown \
      --teacher=runs/pos_scan --distill_weight=0.1
    python -m trainers.train_captioner --data=data/f30k --model=distributed --run=runs/k4 \
      --set=options.branches=4

Run it again with the same flags to go on after a stop. The best weights by validation
CIDEr are kept. The last line is one JSON object with the last validation figures.
"""

import dataclasses
import json

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data import prepared
from gcap_tf.training import captioner_training

_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to go on with.", required=True)
_MODEL = flags.DEFINE_string(
  "model", "updown", "updown, gvd, distributed, cyclical, adaptive or neuraltalk2."
)
_TEACHER = flags.DEFINE_string(
  "teacher", "", "Run folder of the matcher whose attention is distilled."
)
_DISTILL = flags.DEFINE_float(
  "distill_weight", 0.1, "Weight of the distillation; counts only with --teacher."
)
_BOXES = flags.DEFINE_enum(
  "box_supervision", "none", ["none", "nll", "kl", "extend_nll"], "What annotated boxes teach."
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "At the start.")
_SEED = flags.DEFINE_integer("seed", 1, "Of initial weights, order and dropout.")
_SET = flags.DEFINE_multi_string("set", [], "Any option, as key.path=value; see RUN/config.json.")


def configuration() -> captioner_training.CaptionerTrainingConfig:
  """The flags as a configuration; `--set` has the last word."""
  config = captioner_training.for_model(_MODEL.value)
  losses = dataclasses.replace(
    config.losses,
    distill_weight=_DISTILL.value if _TEACHER.value else 0.0,
    box_supervision=_BOXES.value,
  )
  config = dataclasses.replace(config, losses=losses, teacher=_TEACHER.value, seed=_SEED.value)
  if _EPOCHS.value:
    config = dataclasses.replace(config, epochs=_EPOCHS.value)
  if _IMAGES.value:
    config = dataclasses.replace(config, images=_IMAGES.value)
  if _RATE.value:
    schedule = dataclasses.replace(config.schedule, learning_rate=_RATE.value)
    config = dataclasses.replace(config, schedule=schedule)
  return configs.override(config, _SET.value)


def main(argv: list[str]) -> None:
  del argv
  config = configuration()
  print(json.dumps(configs.to_dict(config), indent=2))
  figures = captioner_training.train(prepared.PreparedData(_DATA.value), config, _RUN.value)
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
