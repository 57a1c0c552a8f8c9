"""Evaluates a matcher: R@K and rsum, attention precision, recall and F1, attention accuracy.

    python -m trainers.evaluate_matcher --run=runs/scan --data=data/scenes --split=test
    python -m trainers.evaluate_matcher --run=runs/scan --precomp=data/f30k_precomp --split=test
    python -m trainers.evaluate_matcher --run=runs/scan_t2i,runs/scan_i2t --data=data/f30k
    python -m trainers.evaluate_matcher --run=runs/scan --data=data/f30k --save_pr_curve=pr.png \\
      --pr_runs=runs/scan,runs/scan_ccr_ccs

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
_CURVES = flags.DEFINE_list(
  "pr_runs", [], "Run folders whose curves --save_pr_curve draws in one picture, instead of --run."
)
_IOU = flags.DEFINE_float("iou", 0.4, "T_IoU: a region above it is relevant to a phrase.", 0.0, 1.0)


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
  if _CURVES.value:
    compare_curves()
  print(json.dumps(printing.rounded(figures)))


def compare_curves() -> None:
  """Draws the PR curves of --pr_runs."""
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.evaluation.evaluators import attention
  from gcap_tf.runs import run_folders

  if not (_CURVE.value and _DATA.value):
    raise errors.UserError("--pr_runs needs --save_pr_curve=FILE and --data=DIR")
  runs = [run_folders.load(folder, "matcher") for folder in _CURVES.value]
  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)
  attention.compare_curves(runs, split, _IOU.value, _CURVE.value)


def evaluate(folders: list[str]) -> dict[str, float]:
  """Scores of one run, or of an ensemble; saves what the flags ask for."""
  import numpy as np

  from gcap_tf.evaluation import matcher_report, precomp_evaluation

  curve = None if _CURVES.value else _CURVE.value
  if _DATA.value:
    figures, similarity = matcher_report.evaluate_runs(
      folders, _DATA.value, _SPLIT.value, _FOLDS.value, curve, _IOU.value
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
