"""The grid of constraint weights and margins that the paper of CCR and CCS searches.

Chen et al., WACV 2023, Sec. 4.2: all combinations are trained and the best result is printed.
"""

import dataclasses
import itertools

from gcap_tf import errors
from gcap_tf.recipes import ccr_ccs, experiments

WEIGHTS = (0.1, 1.0)
MARGINS = (0.0, 0.1, 0.2)


def table(row: str) -> experiments.Table:
  """Every combination of weights and margins of a constrained row; the best rsum wins."""
  chosen = ccr_ccs.table().row(row)
  names = _constraints(chosen)
  if not names:
    constrained = [found.name for found in ccr_ccs.table().rows if _constraints(found)]
    raise errors.UserError(
      f"row {row} has no constraint to search; choose from {', '.join(constrained)}"
    )
  rows = []
  for values in itertools.product(*([(w, m) for w in WEIGHTS for m in MARGINS] for _ in names)):
    options = {
      f"{name}_{part}": value
      for name, pair in zip(names, values, strict=True)
      for part, value in zip(("weight", "margin"), pair, strict=True)
    }
    text = ", ".join(f"{key} {value:g}" for key, value in options.items())
    training = dataclasses.replace(
      chosen.training, losses=dataclasses.replace(chosen.training.losses, **options)
    )
    name = "_".join([row, *(f"{value:g}" for pair in values for value in pair)])
    rows.append(experiments.Row(name=name, label=f"{chosen.label}: {text}", training=training))
  return experiments.Table(
    paper="ccr_ccs", split="val", columns=ccr_ccs.COLUMNS, rows=tuple(rows), best="rsum"
  )


def _constraints(row: experiments.Row) -> list[str]:
  """The constraints that are on in a row: "ccr", "ccs"."""
  losses = getattr(row.training, "losses", None)
  return [name for name in ("ccr", "ccs") if losses and getattr(losses, f"{name}_weight")]
