"""What TensorBoard shows of a run beside its curves: pictures, captions, PR curves, HParams."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorboard.plugins.hparams import api as hparams_api
from tensorboard.plugins.pr_curve import summary as pr_summary


def picture(name: str, image: Image.Image, step: int) -> None:
  """Writes an image to the current writer."""
  tf.summary.image(name, np.asarray(image.convert("RGB"))[np.newaxis], step)


def captions(name: str, rows: Sequence[tuple[str, str, Sequence[str]]], step: int) -> None:
  """Writes generated captions beside the annotated ones, as a table.

  Args:
    name: of the summary.
    rows: (image id, generated caption, its references).
    step: of training.
  """
  lines = ["| picture | the model says | people say |", "|---|---|---|"]
  for image_id, said, references in rows:
    people = "<br>".join(map(_cell, references))
    lines.append(f"| {_cell(image_id)} | {_cell(said)} | {people} |")
  tf.summary.text(name, "\n".join(lines), step)


def pr_curve(
  name: str, precision: np.ndarray, recall: np.ndarray, phrases: int, step: int, about: str = ""
) -> None:
  """Writes a PR curve for TensorBoard's own panel.

  The panel wants counts as well; ours are means over phrases, so the counts are those
  of `phrases` relevant items that give the same precision and recall.

  Args:
    name: of the summary.
    precision, recall: [n] fractions of 1, in the order of the thresholds.
    phrases: how many phrases the means are over.
    step: of training.
    about: shown beside the curve.
  """
  precision, recall = np.asarray(precision, np.float64), np.asarray(recall, np.float64)
  found = recall * phrases
  wrong = np.divide(found, precision, out=np.zeros_like(found), where=precision > 0) - found
  summary = pr_summary.raw_data_pb(
    name,
    true_positive_counts=found,
    false_positive_counts=np.maximum(wrong, 0),
    true_negative_counts=np.zeros_like(found),
    false_negative_counts=phrases - found,
    precision=precision,
    recall=recall,
    num_thresholds=len(found),
    description=about,
  )
  tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step)


def hparams(config: Mapping[str, Any], run_name: str) -> None:
  """Writes a run's options for the HParams panel."""
  hparams_api.hparams(flatten(config), trial_id=run_name)


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, bool | int | float | str]:
  """Nested options as `key.path` -> value; lists are written out as text."""
  flat = {}
  for key, value in config.items():
    if isinstance(value, Mapping):
      flat |= flatten(value, f"{prefix}{key}.")
    elif isinstance(value, bool | int | float | str):
      flat[prefix + key] = value
    elif value is not None:
      flat[prefix + key] = ", ".join(map(str, value))
  return flat


def _cell(text: str) -> str:
  return text.replace("|", "\\|").replace("\n", " ")
