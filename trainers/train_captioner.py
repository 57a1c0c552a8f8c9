r"""Trains a captioner: Up-Down, GVD, Distributed, Cyclical, AdaptiveAttention, Neuraltalk2.

    python -m trainers.train_captioner --data=data/scenes --model=updown --run=runs/updown \
      --teacher=runs/pos_scan --distill_weight=0.1
    python -m trainers.train_captioner --data=data/f30k --recipe=distributed_k4_f30k \
      --run=runs/k4 --seeds=1,2,3

The same command continues after a stop. The best weights by validation CIDEr are kept. The
last line is one JSON object with the last validation figures; for several seeds with their
means, and their deviations as KEY_std.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from trainers import recipe_flags, training_flags

_MODEL = flags.DEFINE_string(
  "model", None, "updown (the default), gvd, distributed, cyclical, adaptive or neuraltalk2."
)
_START = flags.DEFINE_string(
  "start",
  "",
  "Run folder of a captioner whose words, sizes and best weights the run begins with.",
)
_TEACHER = flags.DEFINE_string(
  "teacher", "", "Run folder of the matcher whose attention is distilled."
)
_DISTILL = flags.DEFINE_float(
  "distill_weight", None, "Weight of distillation, with --teacher; 0.1, or the recipe's.", 0.0
)
_BOXES = flags.DEFINE_enum(
  "box_supervision", None, ["none", "nll", "kl", "extend_nll"], "Loss on annotated boxes."
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "Learning rate at the start.")

flags.adopt_module_key_flags(recipe_flags)
flags.adopt_module_key_flags(training_flags)


def configuration():
  """The flags as a configuration: the recipe, then flags, then `--set`."""
  from gcap_tf.captioners import catalog
  from gcap_tf.recipes import catalog as recipes

  recipe = recipe_flags.chosen(recipes.CAPTIONERS, _MODEL.value)
  config = recipe.training if recipe else recipes.for_model(_MODEL.value or "updown")
  if recipe and recipe.needs_teacher and not _TEACHER.value:
    raise errors.UserError("this recipe distils a matcher: name its run folder, --teacher=RUN")
  weight = _DISTILL.value if _DISTILL.value is not None else config.losses.distill_weight or 0.1
  losses = dataclasses.replace(
    config.losses,
    distill_weight=weight if _TEACHER.value else 0.0,
    box_supervision=_BOXES.value or config.losses.box_supervision,
  )
  config = dataclasses.replace(config, losses=losses, teacher=_TEACHER.value)
  given = {"epochs": _EPOCHS.value, "images": _IMAGES.value, "start": _START.value or None}
  if _EPOCHS.value:  # A first stage keeps its share of the epochs.
    given["first_stage_epochs"] = config.first_stage_epochs * _EPOCHS.value // config.epochs
  return training_flags.apply(config, _RATE.value, catalog.CAPTIONERS, **given)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.training.methods import captioning

  recipe_flags.train(configuration(), captioning.train)


if __name__ == "__main__":
  errors.run(main)
