"""The figures that `evaluate_matcher` prints for prepared data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gcap_tf import files, registry
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import evaluator, matcher_evaluation
from gcap_tf.metrics import attention
from gcap_tf.runs import run_folders


def evaluate_runs(
  folders: Sequence[str],
  data: files.PathLike,
  split: str,
  folds: int = 1,
  curve: files.PathLike | None = None,
  iou: float = attention.IOU,
) -> tuple[dict[str, float], np.ndarray]:
  """Figures of a run, or of an ensemble of runs, on prepared data; and similarities [I, C].

  Args:
    folders: run folders; several give the mean of their similarities, and no attention.
    data: prepared folder.
    split: which split.
    folds: 5 averages retrieval over five folds of the pictures (COCO 1K).
    curve: file for the attention PR curve; None draws none.
    iou: T_IoU, above which a region is relevant to a phrase.
  """
  chosen = prepared_data.PreparedData(data).split(split)
  members = [run_folders.load(folder, "matcher") for folder in folders]
  report, similarity = evaluate(members, chosen, folds=folds, curve=curve, iou=iou)
  return report.values, similarity


def evaluate(
  members: Sequence[run_folders.Run], split: prepared_data.Split, **options: Any
) -> tuple[evaluator.Report, np.ndarray]:
  """The report of matchers, and their mean similarities [I, C].

  Args:
    members: one matcher, or those of an ensemble.
    split: pictures and captions.
    options: of `evaluator.MatcherScores`.
  """
  registry.import_modules("gcap_tf.evaluation.evaluators")
  matcher_evaluation.warn_unless_five_captions(split.captions, f"{split.folder}, {split.name}")
  scores = evaluator.MatcherScores(members, split, **options)
  report = evaluator.run_all(evaluator.MATCHERS, scores)
  if report.text:
    print(report.text)
  return report, scores.similarity
