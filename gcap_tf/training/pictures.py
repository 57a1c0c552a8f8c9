"""What TensorBoard shows while a model is trained: attention, captions, options."""

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import captioner_evaluation, matcher_evaluation
from gcap_tf.matchers import base
from gcap_tf.metrics import attention as attention_metrics
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import strategies
from gcap_tf.visuals import draw, pr_curve, summaries

SHOWN = 4  # pictures of a validation split, always the first ones
JUDGED = 200  # pictures whose attention is judged at every validation of a matcher


def write_options(folder: files.PathLike, config: Any) -> None:
  """Writes a run's options for the HParams panel; of several workers, one does."""
  if not strategies.worker(tf.distribute.get_strategy()).is_chief:
    return
  folder = pathlib.Path(folder)
  writer = tf.summary.create_file_writer(str(folder / "tensorboard"), filename_suffix=".options")
  with writer.as_default(step=0):
    summaries.hparams(configs.to_dict(config), folder.name)
  writer.close()


def of_answers(
  answers: Sequence[captioner_evaluation.Answer], split: prepared_data.Split
) -> dict[str, np.ndarray]:
  """Attention of every generated word: heat over boxes, the winning box outlined.

  Args:
    answers: of the split's pictures, in order.
    split: where they are from; without boxes nothing can be drawn.
  """
  shown = {}
  for position, answer in enumerate(answers[:SHOWN]):
    record = split.record(position)
    if answer.words and record.regions.boxes_px is not None:
      weights = answer.attention.mean(1)[:, : record.regions.count]  # [T, R] over branches
      shown[f"attention/{answer.image_id}"] = _grid(record, answer.words, weights)
  return shown


def samples(answers: Sequence[captioner_evaluation.Answer], split: prepared_data.Split) -> str:
  """Generated captions beside a person's, as a Markdown table."""
  lines = ["| picture | the model says | a person says |", "|---|---|---|"]
  for position, answer in enumerate(answers[: 2 * SHOWN]):
    person = " ".join(split.record(position).captions[0].tokens)
    cells = [cell.replace("|", "\\|") for cell in (answer.image_id, answer.caption, person)]
    lines.append(f"| {' | '.join(cells)} |")
  return "\n".join(lines)


class MatcherAttention:
  """Judges and draws where a matcher's words look, on the first captions of a split.

  Args:
    model, vocabulary: the matcher.
    split: needs boxes of regions; None, or a matcher that does not attend, gives nothing.
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

  def judge(self) -> dict[str, float]:
    """Attention precision, recall, F1 and accuracy, as far as the annotation allows."""
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
    except errors.UserError:  # No phrase with a box, or no object word: nothing to judge.
      pass
    return figures

  def draw(self) -> dict[str, np.ndarray]:
    """The first caption's words of a few pictures, and the PR curve; of the last `judge`.

    The curve also goes to TensorBoard's PR panel, by the current writer.
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
  """A panel for every word; words that look at nothing in particular are faint."""
  scale = np.array([record.width, record.height] * 2, np.float32)
  looking = (weights.sum(-1) > 0).tolist()
  picture = draw.attention_grid(
    record.picture or None, words, weights, record.regions.boxes_px / scale, grounded=looking
  )
  return np.asarray(picture)
