"""Attention of a matcher: precision, recall, F1 and accuracy on the split's own captions."""

from collections.abc import Mapping, Sequence

from gcap_tf import errors, files, printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import evaluator, matcher_evaluation
from gcap_tf.metrics import attention as attention_metrics
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.runs import run_folders
from gcap_tf.visuals import pr_curve


@evaluator.MATCHERS.register("attention")
class Attention(evaluator.Evaluator[evaluator.MatcherScores]):
  """Needs one matcher that attends, and data with boxes.

  Figures that need annotation which the split lacks (a phrase with a box, an object word)
  are left out; the text gives the reason.
  """

  def run(self, subject: evaluator.MatcherScores) -> evaluator.Report:
    run, split = subject.members[0], subject.split
    if len(subject.members) > 1 or not run.model.attends or not split.has_boxes:
      if subject.curve:
        raise errors.UserError("a PR curve needs one run that attends, and data with boxes")
      return evaluator.Report()
    scorer, accuracy = matcher_evaluation.score_attention(
      run.model, run.vocabulary, split, iou=subject.iou
    )
    figures: dict[str, float] = {}
    statistics: dict[str, resampling.Statistic] = {}
    reasons = []
    try:
      scores = scorer.result()
      figures |= printing.percent(scores.as_json(), keep=("attention_threshold",))
      if subject.curve:
        draw_curves({run.name: scores}, subject.curve)
      if subject.statistics:
        statistics["attention_f1"] = scorer.statistic(len(split))
    except errors.UserError as error:
      reasons.append(f"not computed: {error}")
    try:
      figures |= printing.percent(accuracy.as_json())
      if subject.statistics:
        statistics["attention_accuracy"] = accuracy.statistic(len(split))
    except errors.UserError as error:
      reasons.append(f"not computed: {error}")
    return evaluator.Report("\n".join(reasons), figures, statistics)


def draw_curves(
  scores: Mapping[str, attention_metrics.AttentionScores], path: files.PathLike
) -> None:
  """Draws precision over recall to a PNG file, one line for each name."""
  curves = {
    name: pr_curve.Curve(found.recall, found.precision, found.best)
    for name, found in scores.items()
  }
  with files.atomic_path(path) as partial:
    pr_curve.draw(curves).save(partial, format="PNG")


def compare_curves(
  runs: Sequence[run_folders.Run], split: prepared_data.Split, iou: float, path: files.PathLike
) -> None:
  """Draws the PR curves of several matchers into one picture; a `UserError` if one has none."""
  found = {}
  for run in runs:
    if not run.model.attends or not split.has_boxes:
      raise errors.UserError(
        f"{run.folder}: a PR curve needs a matcher that attends, and data with boxes"
      )
    scorer, _ = matcher_evaluation.score_attention(run.model, run.vocabulary, split, iou=iou)
    found[run.folder.name] = scorer.result()
  draw_curves(found, path)
