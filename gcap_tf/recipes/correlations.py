"""Correlation of two figures over the runs of some rows, as in Sec. 4.4 of the CCR and CCS paper.

r = cov(x, y) / (σ_x σ_y)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gcap_tf.recipes import experiments

_LEAST = 3  # Two points lie on a line whatever they are.


def summarise(
  wanted: experiments.Correlation, runs: Mapping[str, Mapping[int, Mapping[str, Any]]]
) -> dict[str, Any] | None:
  """The coefficient over every run of the rows; None with fewer than three runs."""
  figures = [run["figures"] for row in wanted.rows for run in runs.get(row, {}).values()]
  points = [
    tuple(found[key] for key in wanted.keys)
    for found in figures
    if all(found.get(key) is not None for key in wanted.keys)
  ]
  if len(points) < _LEAST or min(np.ptp(points, axis=0)) == 0:
    return None
  return {
    "label": wanted.label,
    "keys": list(wanted.keys),
    "r": float(np.corrcoef(np.transpose(points))[0, 1]),
    "runs": len(points),
    "paper": wanted.printed,
  }


def sentence(found: Mapping[str, Any], headings: Mapping[str, str]) -> str:
  """A line of table.md."""
  names = " and ".join(headings.get(key, key) for key in found["keys"])
  return (
    f"- {found['label']}: correlation of {names} {found['r']:.3f} over {found['runs']} runs; in "
    f"the paper {found['paper']:g}."
  )
