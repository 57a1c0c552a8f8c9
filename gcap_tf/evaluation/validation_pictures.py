"""Pictures and texts of a validation, for TensorBoard: attention and captions."""

from collections.abc import Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import captioner_evaluation, matcher_evaluation
from gcap_tf.matchers import base
from gcap_tf.metrics import attention as attention_metrics
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.visuals import draw, pr_curve, summaries

SHOWN = 4  # Pictures of a validation split, always the first ones.
JUDGED = 200  # Pictures whose attention is scored at every validation of a matcher.


def draw_answers(
  answers: Sequence[captioner_evaluation.Answer], split: prepared_data.Split
) -> dict[str, np.ndarray]:
  """Attention of every generated word: heat over boxes, the winning box outlined.

  Args:
    answers: captions of the split's pictures, in order.
    split: the pictures; without boxes nothing is drawn.
  """
  shown = {}
  for position, answer in enumerate(answers[:SHOWN]):
    record = split.record(position)
    if answer.words and record.regions.boxes_px is not None:
      weights = answer.attention.mean(1)[:, : record.regions.count]  # [T, R] over branches
      shown[f"attention/{answer.image_id}"] = _grid(record, answer.words, weights)
  return shown


def caption_table(
  answers: Sequence[captioner_evaluation.Answer], split: prepared_data.Split
) -> str:
  """Generated captions next to captions that people wrote, as a Markdown table."""
  lines = ["| picture | the model says | a person says |", "|---|---|---|"]
  for position, answer in enumerate(answers[: 2 * SHOWN]):
    person = " ".join(split.record(position).captions[0].tokens)
    cells = [cell.replace("|", "\\|") for cell in (answer.image_id, answer.caption, person)]
    lines.append(f"| {' | '.join(cells)} |")
  return "\n".join(lines)


class MatcherAttention:
  """Scores and draws the attention of a matcher on the first captions of a split.

  Args:
    model: the matcher.
    vocabulary: its words.
    split: needs boxes of regions; None, or a matcher without attention, gives no figures.
  """

  def __init__(
    self,
    model: base.Matcher,
    vocabulary: vocabularies.Vocabulary,
    split: prepared_data.Split | None,
  ):
    self._model, self._vocabulary, self._split = model, vocabulary, split
    self._works = split is not None and model.attends and split.has_boxes
    self._rows: list[np.ndarray] = []
    self._scores: attention_metrics.AttentionScores | None = None

  def score(self) -> dict[str, float]:
    """Attention precision, recall, F1 and accuracy; those that the annotation allows."""
    if not self._works:
      return {}
    self._rows = matcher_evaluation.matched_attention(
      self._model, self._vocabulary, self._split, pictures=JUDGED
    )
    scorer, accuracy = matcher_evaluation.score_rows(self._rows, self._split)
    figures: dict[str, float] = {}
    try:
      self._scores = scorer.result()
      figures |= self._scores.as_json()
      figures |= accuracy.as_json()
    except errors.UserError:  # No phrase with a box, or no object word: nothing to score.
      pass
    return figures

  def draw(self) -> dict[str, np.ndarray]:
    """Attention of a few captions, and the PR curve; both of the last `score`.

    The curve also goes to TensorBoard's PR panel, through the current writer.
    """
    if not self._rows:
      return {}
    shown = {}
    for position in range(min(SHOWN, len(self._split))):
      record = self._split.record(position)
      weights = self._rows[self._split.caption_starts[position]][:, : record.regions.count]
      words = record.captions[0].tokens[: len(weights)]
      shown[f"attention/{record.image_id}"] = _grid(record, words, weights)
    if self._scores is not None:
      scores = self._scores
      about = f"thresholds of attention from {scores.thresholds[0]} to {scores.thresholds[-1]}"
      summaries.pr_curve("attention", scores.precision, scores.recall, scores.phrases, about)
      curve = pr_curve.Curve(scores.recall, scores.precision, scores.best)
      shown["attention_pr_curve"] = np.asarray(pr_curve.draw({"attention": curve}))
    return shown


def _grid(record: records.Record, words: Sequence[str], weights: np.ndarray) -> np.ndarray:
  """A panel for every word; words without attention are faint."""
  scale = np.array([record.width, record.height] * 2, np.float32)
  looking = (weights.sum(-1) > 0).tolist()
  picture = draw.attention_grid(
    record.picture or None, words, weights, record.regions.boxes_px / scale, grounded=looking
  )
  return np.asarray(picture)
