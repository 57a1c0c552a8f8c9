"""Whether a paper's claim holds: means over seeds, and a paired bootstrap where it can be had.

    holds            the 95 % interval of (better - worse) lies above 0
    does not hold    it lies below 0
    cannot be told   it contains 0, or too few seeds of both rows are trained

A claim is about the seeds that both rows have. Without statistics of pictures
(`metrics/bootstrap/resampling.py`), the means decide.
"""

import statistics as averages
from collections.abc import Mapping, Sequence
from typing import Any

from gcap_tf import printing
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"

# Row -> seed -> {"figures": {key: value in percent}, "minutes": float}.
Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]
# Row -> seed -> figure -> what pictures add to it.
Statistics = Mapping[str, Mapping[int, Mapping[str, resampling.Statistic]]]


def judge(
  table: experiments.Table,
  claim: experiments.Claim,
  runs: Runs,
  statistics: Statistics,
  least_seeds: int = 1,
) -> dict[str, Any] | None:
  """A claim of table.json; None if one of its rows has no run with the figure.

  Args:
    table: of the claim.
    claim: which rows differ in which figure.
    runs: the results.
    statistics: of the runs that kept some.
    least_seeds: with fewer seeds of both rows, the verdict is open.
  """
  first, second = (_figures(runs, name, claim.key) for name in (claim.better, claim.worse))
  if not first or not second:
    return None
  seeds = sorted(set(first) & set(second))
  better, worse = (
    averages.fmean(found[seed] for seed in seeds or found) for found in (first, second)
  )
  above = better < worse if claim.lower else better > worse
  verdict, interval = HOLDS if above else FAILS, None
  found = _difference(claim, seeds, statistics)
  if found is not None:
    low, high = (-found.high, -found.low) if claim.lower else (found.low, found.high)
    verdict = HOLDS if low > 0 else FAILS if high < 0 else UNKNOWN
    interval = {
      "low": found.low,
      "high": found.high,
      "seeds": found.seeds,
      "pictures": found.pictures,
    }
  return {
    "better": table.row(claim.better).label,
    "worse": table.row(claim.worse).label,
    "key": claim.key,
    "lower": claim.lower,
    "ours": [better, worse],
    "seeds": len(seeds),
    "paper": printed(table, claim),
    "interval": interval,
    "verdict": UNKNOWN if len(seeds) < max(1, least_seeds) else verdict,
  }


def _figures(runs: Runs, row: str, key: str) -> dict[int, float]:
  """Seed -> the figure, of the runs that have it."""
  found = {seed: run["figures"].get(key) for seed, run in runs.get(row, {}).items()}
  return {seed: value for seed, value in found.items() if value is not None}


def _difference(
  claim: experiments.Claim, seeds: Sequence[int], statistics: Statistics
) -> resampling.Difference | None:
  """The bootstrap over the seeds of both rows that have statistics; None if none has."""
  pairs = [
    [statistics.get(row, {}).get(seed, {}).get(claim.key) for row in (claim.better, claim.worse)]
    for seed in seeds
  ]
  pairs = [pair for pair in pairs if None not in pair]
  return resampling.compare(*zip(*pairs, strict=True)) if pairs else None


def printed(table: experiments.Table, claim: experiments.Claim) -> dict[str, Any] | None:
  """The paper's pair of figures, and what they are printed for; None if it prints no pair."""
  if claim.printed:
    return {"figures": list(claim.printed), "setting": str(claim.setting)}
  better, worse, key = table.row(claim.better), table.row(claim.worse), claim.key
  for setting, figures in better.printed.items():
    other = worse.printed.get(setting, {})
    if key in figures and key in other:
      return {"figures": [figures[key], other[key]], "setting": str(setting)}
  return None


def sentence(claim: Mapping[str, Any], heading: str) -> str:
  """A line of table.md."""
  side = "below" if claim["lower"] else "above"
  verdict = {HOLDS: "Holds", FAILS: "**Does not hold here**", UNKNOWN: "Cannot be told"}
  ours = " against ".join(f"{value:.2f}" for value in claim["ours"])
  parts = [ours]
  interval = claim["interval"]
  if interval:
    parts.append(
      f"difference {interval['low']:+.2f} to {interval['high']:+.2f}, 95 %, "
      f"{printing.count(interval['seeds'], 'seed')}, {interval['pictures']:,} pictures"
    )
  elif claim.get("seeds") == 0:
    parts.append("no seed of both")
  if claim["paper"]:
    pair = " against ".join(f"{value:g}" for value in claim["paper"]["figures"])
    parts.append(f"in the paper {pair}, {claim['paper']['setting']}")
  words = f"{claim['better']} is {side} {claim['worse']} in {heading}"
  return f"- {verdict[claim['verdict']]}: {words} ({'; '.join(parts)})."
