"""The figures that `evaluate_matcher` prints for prepared data."""

from collections.abc import Sequence

import numpy as np

from gcap_tf import files, registry
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import evaluator, matcher_evaluation
from gcap_tf.runs import run_folders


def evaluate_runs(
  folders: Sequence[str],
  data: files.PathLike,
  split: str,
  folds: int = 1,
  curve: files.PathLike | None = None,
) -> tuple[dict[str, float], np.ndarray]:
  """Figures of a run, or of an ensemble of runs, on prepared data; and similarities [I, C].

  Args:
    folders: run folders; several give the mean of their similarities, and no attention.
    data: prepared folder.
    split: which split.
    folds: 5 averages retrieval over five folds of the pictures (COCO 1K).
    curve: file for the attention PR curve; None draws none.
  """
  registry.import_modules("gcap_tf.evaluation.evaluators")
  chosen = prepared_data.PreparedData(data).split(split)
  matcher_evaluation.warn_unless_five_captions(chosen.captions, f"{data}, {split}")
  members = [run_folders.load(folder, "matcher") for folder in folders]
  scores = evaluator.MatcherScores(members, chosen, folds, curve)
  report = evaluator.run_all(evaluator.MATCHERS, scores)
  if report.text:
    print(report.text)
  return report.values, scores.similarity
