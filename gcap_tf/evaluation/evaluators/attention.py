"""Attention of a matcher: precision, recall, F1 and accuracy on the split's own captions."""

from gcap_tf import errors, files, printing
from gcap_tf.evaluation import evaluator, matcher_evaluation
from gcap_tf.metrics import attention as attention_metrics
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
    scorer, accuracy = matcher_evaluation.score_attention(run.model, run.vocabulary, split)
    figures: dict[str, float] = {}
    reasons = []
    try:
      scores = scorer.result()
      figures |= printing.percent(scores.as_json(), keep=("attention_threshold",))
      if subject.curve:
        draw_curve(scores, run.name, subject.curve)
    except errors.UserError as error:
      reasons.append(f"not computed: {error}")
    try:
      figures |= printing.percent(accuracy.as_json())
    except errors.UserError as error:
      reasons.append(f"not computed: {error}")
    return evaluator.Report("\n".join(reasons), figures)


def draw_curve(scores: attention_metrics.AttentionScores, name: str, path: files.PathLike) -> None:
  """Draws precision over recall to a PNG file."""
  with files.atomic_path(path) as partial:
    points = pr_curve.Curve(scores.recall, scores.precision, scores.best)
    pr_curve.draw({name: points}).save(partial, format="PNG")
