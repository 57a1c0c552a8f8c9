"""Evaluates a matcher: R@K and rsum, attention precision, recall and F1, attention accuracy.

    python -m trainers.evaluate_matcher --run=runs/scan --data=data/scenes --split=test
    python -m trainers.evaluate_matcher --run=runs/scan --precomp=data/f30k_precomp --split=test
    python -m trainers.evaluate_matcher --run=runs/scan_t2i,runs/scan_i2t --data=data/f30k

Several runs, separated by commas, are an ensemble: the mean of their similarities. The last
line is one JSON object with every score in percent. For folders that were trained with
--seeds it has means over the seeds, and standard deviations as KEY_std.
"""

import json

from absl import flags

from gcap_tf import errors, files, printing

_RUN = flags.DEFINE_list(
  "run", None, "Run folder, or several of an ensemble, or of seeds.", required=True
)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_PRECOMP = flags.DEFINE_string("precomp", None, "Folder with {split}_ims.npy, {split}_caps.txt.")
_SPLIT = flags.DEFINE_string("split", "test", "Which split.")
_FOLDS = flags.DEFINE_integer("folds", 1, "5 averages over five folds of pictures: COCO 1K.", 1)
_SAVE = flags.DEFINE_string("save_similarity", None, "Writes the similarities [I, C] to this .npy.")
_CURVE = flags.DEFINE_string("save_pr_curve", None, "Draws the attention PR curve to this .png.")


def main(argv: list[str]) -> None:
  del argv
  if (_DATA.value is None) == (_PRECOMP.value is None):
    raise errors.UserError("give either --data or --precomp")
  from gcap_tf.runs import seeds

  members = seeds.common(_RUN.value)
  if not members:
    figures = evaluate(_RUN.value)
    for name, value in figures.items():
      print(f"{name:26} {value:10.2f}")
  else:
    if _SAVE.value or _CURVE.value:
      raise errors.UserError("--save_similarity and --save_pr_curve are for one run, not for seeds")
    found = {n: evaluate([str(seeds.members(run)[n]) for run in _RUN.value]) for n in members}
    figures = seeds.summary(found)
    print(seeds.table(figures))
  print(json.dumps(printing.rounded(figures)))


def evaluate(folders: list[str]) -> dict[str, float]:
  """Scores of one run, or of an ensemble; saves what the flags ask for."""
  import numpy as np

  from gcap_tf.evaluation import matcher_report, precomp_evaluation

  if _DATA.value:
    figures, similarity = matcher_report.evaluate_runs(
      folders, _DATA.value, _SPLIT.value, _FOLDS.value, _CURVE.value
    )
  else:
    figures, similarity = precomp_evaluation.evaluate_runs(
      folders, _PRECOMP.value, _SPLIT.value, _FOLDS.value
    )
  if _SAVE.value:
    with files.atomic_path(_SAVE.value) as partial, partial.open("wb") as file:
      np.save(file, similarity)
  return figures


if __name__ == "__main__":
  errors.run(main)
