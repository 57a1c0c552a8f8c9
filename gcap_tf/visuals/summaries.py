"""Summaries for TensorBoard's PR curve and HParams panels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams_api
from tensorboard.plugins.pr_curve import summary as pr_summary


def pr_curve(
  name: str, precision: np.ndarray, recall: np.ndarray, phrases: int, about: str = ""
) -> None:
  """Writes a PR curve to the current writer at the current step; does nothing without one.

  The panel also needs counts. Our precision and recall are means over phrases, so the
  counts are those of `phrases` relevant items with the same precision and recall.

  Args:
    name: name of the summary.
    precision, recall: [n] fractions of 1, in the order of the thresholds.
    phrases: number of phrases in the means.
    about: description shown with the curve.
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
  tf.summary.experimental.write_raw_pb(summary.SerializeToString())


def hparams(config: Mapping[str, Any], run_name: str) -> None:
  """Writes the options of a run for the HParams panel."""
  hparams_api.hparams(flatten(config), trial_id=run_name)


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, bool | int | float | str]:
  """Flattens nested options to `key.path` -> value; lists become text."""
  flat = {}
  for key, value in config.items():
    if isinstance(value, Mapping):
      flat |= flatten(value, f"{prefix}{key}.")
    elif isinstance(value, bool | int | float | str):
      flat[prefix + key] = value
    elif value is not None:
      flat[prefix + key] = ", ".join(map(str, value))
  return flat
