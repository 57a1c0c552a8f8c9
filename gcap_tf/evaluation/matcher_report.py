"""The figures that `evaluate_matcher` prints for prepared data."""

from collections.abc import Sequence

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import matcher_evaluation
from gcap_tf.matchers import blocks, ensemble
from gcap_tf.metrics import retrieval
from gcap_tf.runs import run_folders
from gcap_tf.visuals import pr_curve


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
    curve: where to draw the attention PR curve, if at all.
  """
  chosen = prepared_data.PreparedData(data).split(split)
  matcher_evaluation.say_if_not_five(chosen.captions, f"{data}, {split}")
  members = [run_folders.load(folder, "matcher") for folder in folders]
  matrices = []
  for run in members:
    encoded = matcher_evaluation.encode_split(run.model, run.vocabulary, chosen)
    matrices.append(blocks.similarity_matrix(run.model, encoded.images, encoded.captions))
  similarity = ensemble.mean_similarity(matrices)
  score = retrieval.retrieval if folds == 1 else retrieval.five_fold
  figures = score(similarity, chosen.caption_pictures)
  if len(members) == 1 and members[0].model.attends and chosen.has_boxes:
    figures |= attention_figures(members[0], chosen, curve)
  elif curve:
    raise errors.UserError("a PR curve needs one run that attends, and data with boxes")
  return figures, similarity


def attention_figures(
  run: run_folders.Run, split: prepared_data.Split, curve: files.PathLike | None = None
) -> dict[str, float]:
  """Attention precision, recall, F1 and accuracy on the split's own captions.

  What the annotation does not allow (no phrase with a box, no object word) is left out,
  saying so.
  """
  scorer, accuracy = matcher_evaluation.score_attention(run.model, run.vocabulary, split)
  figures: dict[str, float] = {}
  try:
    scores = scorer.result()
    figures |= scores.as_json()
    if curve:
      with files.atomic_path(curve) as partial:
        points = pr_curve.Curve(scores.recall, scores.precision, scores.best)
        pr_curve.draw({run.name: points}).save(partial, format="PNG")
  except errors.UserError as error:
    print(f"not computed: {error}")
  try:
    figures |= accuracy.as_json()
  except errors.UserError as error:
    print(f"not computed: {error}")
  return figures
