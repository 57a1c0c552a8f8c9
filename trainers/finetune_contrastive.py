r"""Fine-tunes a captioner by contrastive learning: captions that fit only their own picture.

    python -m trainers.finetune_contrastive --data=data/coco --start=runs/adaptive \
      --reference=runs/adaptive --run=runs/adaptive_cl
    python -m trainers.finetune_contrastive --data=data/coco --start=runs/neuraltalk2 \
      --reference=runs/adaptive --run=runs/nt_from_aa

The reference is frozen. It may have another architecture, but needs the same vocabulary. The
same command continues after a stop. The last line is one JSON object with the last validation
figures. `evaluate_captioner --self_retrieval=N` measures how distinctive the captions are.

To replace the reference when the target saturates (Table 6 of the paper), stop the first run with
--set=early_stop=3 and start another from it, with its best weights as the reference:

    python -m trainers.finetune_contrastive --data=data/coco --start=runs/adaptive_cl \
      --run=runs/adaptive_cl_2 --recipe=contrastive_coco
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from trainers import fine_tuning_flags

_REFERENCE = flags.DEFINE_string(
  "reference", "", "Run folder of the reference captioner; default: that of --start."
)
_TERMS = flags.DEFINE_enum(
  "terms",
  "both",
  ["both", "positive", "negative", "introspective"],
  "CL, CL(P), CL(N), or introspective learning without a reference.",
)
_NEGATIVES = flags.DEFINE_integer("negatives", 5, "K, wrong pictures per right one.", 1)
_NU = flags.DEFINE_float("nu", 1.0, "ν of the logistic function.")
_REPLACE = flags.DEFINE_integer(
  "replace_every", 0, "Epochs after which the target becomes the reference; 0 never.", 0
)

flags.adopt_module_key_flags(fine_tuning_flags)


def configuration():
  """The flags as a configuration; `--set` has the last word."""
  from gcap_tf.training.methods import contrastive

  config = fine_tuning_flags.published(contrastive.ContrastiveTrainingConfig)
  config = dataclasses.replace(config, reference=_REFERENCE.value)
  contrast = dataclasses.replace(
    config.contrast,
    terms=_TERMS.value,
    negatives=_NEGATIVES.value,
    nu=_NU.value,
    replace_every=_REPLACE.value,
  )
  return fine_tuning_flags.apply(dataclasses.replace(config, contrast=contrast))


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.training.methods import contrastive

  fine_tuning_flags.train(configuration(), contrastive.train)


if __name__ == "__main__":
  errors.run(main)
