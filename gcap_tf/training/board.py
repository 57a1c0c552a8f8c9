"""Fills a run's TensorBoard folder with what curves do not show.

captioner   pictures with their captions and boxes, attention of every word, sample captions
matcher     attention of every word of annotated captions, attention PR curve
both        the options, for the HParams panel
"""

import pathlib

import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.data import prepared, records
from gcap_tf.decoding import config as decode_config
from gcap_tf.text import object_words
from gcap_tf.training import captioner_evaluation, matcher_evaluation, runs
from gcap_tf.visuals import draw, pr_curve, summaries

SUFFIX = ".shown"  # of our event file, which is written anew every time


def write(run: runs.Run, split: prepared.Split | None, pictures: int = 4) -> pathlib.Path:
  """Writes one event file beside the run's curves; returns it.

  Args:
    run: of `runs.load`.
    split: where pictures are taken from; None writes the options alone.
    pictures: how many.
  """
  folder = run.folder / "tensorboard"
  for old in folder.glob(f"*{SUFFIX}"):
    old.unlink()
  writer = tf.summary.create_file_writer(str(folder), filename_suffix=SUFFIX)
  with writer.as_default(step=0):
    summaries.hparams({"model": run.name, **run.config.get("training", {})}, run.folder.name)
    if split is not None:
      show = _show_captioner if run.kind == "captioner" else _show_matcher
      show(run, split, pictures)
  writer.close()
  (written,) = folder.glob(f"*{SUFFIX}")
  return written


def _show_captioner(run: runs.Run, split: prepared.Split, pictures: int) -> None:
  answers = captioner_evaluation.caption_split(
    run.model, run.vocabulary, split, decode_config.DecodeConfig()
  )
  names = split.data.object_classes or run.vocabulary.labels
  classes = object_words.ObjectClasses(names) if names else None
  rows = []
  for position, answer in enumerate(answers[:pictures]):
    record = split.record(position)
    rows.append((answer.image_id, answer.caption, [" ".join(c.tokens) for c in record.captions]))
    grounded = [classes is None or classes.of(word) is not None for word in answer.words]
    attention = answer.attention.mean(1)[:, : record.regions.count]  # [T, R] over branches
    caption = draw.grounded_caption(
      record.picture or None, answer.words, answer.boxes_01, grounded, attention=attention
    )
    summaries.picture(f"captions/{answer.image_id}", caption, 0)
    grid = draw.attention_grid(
      record.picture or None, answer.words, attention, _boxes_01(record), grounded=grounded
    )
    summaries.picture(f"attention/{answer.image_id}", grid, 0)
  summaries.captions("captions", rows, 0)


def _show_matcher(run: runs.Run, split: prepared.Split, pictures: int) -> None:
  if not run.model.attends:
    return
  weights = iter(matcher_evaluation.matched_attention(run.model, run.vocabulary, split))
  for position in range(len(split)):
    record = split.record(position)
    own = [next(weights) for _ in record.captions]
    if position < pictures and own:
      words = record.captions[0].tokens[: len(own[0])]
      attention = own[0][:, : record.regions.count]
      grid = draw.attention_grid(
        record.picture or None,
        words,
        attention,
        _boxes_01(record),
        grounded=(attention.sum(-1) > 0).tolist(),
        title=" ".join(words),
      )
      summaries.picture(f"attention/{record.image_id}", grid, 0)
  if split.has_boxes:
    _show_curve(run, split)


def _show_curve(run: runs.Run, split: prepared.Split) -> None:
  scorer, _ = matcher_evaluation.score_attention(run.model, run.vocabulary, split)
  try:
    scores = scorer.result()
  except errors.UserError as error:
    print(f"no PR curve of {run.folder}: {error}")
    return
  about = f"Thresholds of attention from {scores.thresholds[0]:g} to {scores.thresholds[-1]:g}"
  summaries.pr_curve("attention", scores.precision, scores.recall, scores.phrases, 0, about)
  curve = pr_curve.Curve(scores.recall, scores.precision, scores.best)
  summaries.picture("attention_pr_curve", pr_curve.draw({run.name: curve}), 0)


def _boxes_01(record: records.Record) -> np.ndarray:
  scale = np.array([record.width, record.height] * 2, np.float32)
  return record.regions.boxes_px / scale
