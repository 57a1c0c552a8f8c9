r"""Fine-tunes a captioner by contrastive learning: captions that fit their picture alone.

    python -m trainers.finetune_contrastive --data=data/coco --start=runs/adaptive \
      --reference=runs/adaptive --run=runs/adaptive_cl
    python -m trainers.finetune_contrastive --data=data/coco --start=runs/neuraltalk2 \
      --reference=runs/adaptive --run=runs/nt_from_aa

The reference is frozen and may be of another architecture, with the same vocabulary. Run it
again with the same flags to go on after a stop. The last line is one JSON object with the last
validation figures; evaluate_captioner --self_retrieval=N tells how distinct captions became.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from gcap_tf.training.methods import contrastive
from trainers import training_flags

_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_START = flags.DEFINE_string("start", None, "Run folder of the captioner to start.", required=True)
_REFERENCE = flags.DEFINE_string(
  "reference", "", "Run folder of the captioner to learn from; default: that of --start."
)
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to go on with.", required=True)
_TERMS = flags.DEFINE_enum("terms", "both", ["both", "positive", "negative"], "CL, CL(P) or CL(N).")
_NEGATIVES = flags.DEFINE_integer("negatives", 5, "K, wrong pictures per right one.", 1)
_NU = flags.DEFINE_float("nu", 1.0, "ν of the logistic function.")
_REPLACE = flags.DEFINE_integer(
  "replace_every", 0, "Epochs after which the target becomes the reference; 0 never.", 0
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "Constant; 1e-6 where not given.")
_SEED = flags.DEFINE_integer("seed", 1, "Of order, dropout and wrong captions.")
_SET = flags.DEFINE_multi_string("set", [], "Any option, as key.path=value; see RUN/config.json.")


def configuration() -> contrastive.ContrastiveTrainingConfig:
  """The flags as a configuration; `--set` has the last word."""
  config = contrastive.ContrastiveTrainingConfig(
    start=_START.value, reference=_REFERENCE.value, seed=_SEED.value
  )
  contrast = dataclasses.replace(
    config.contrast,
    terms=_TERMS.value,
    negatives=_NEGATIVES.value,
    nu=_NU.value,
    replace_every=_REPLACE.value,
  )
  config = dataclasses.replace(config, contrast=contrast)
  given = {"epochs": _EPOCHS.value, "images": _IMAGES.value}
  return training_flags.apply(config, _SET.value, _RATE.value, **given)


def main(argv: list[str]) -> None:
  del argv
  training_flags.train(configuration(), contrastive.train, _DATA.value, _RUN.value)


if __name__ == "__main__":
  errors.run(main)
