"""Whether a paper's claim holds: means over seeds, and a paired bootstrap where it can be had.

    holds            the 95 % interval of (better - worse) lies above 0
    does not hold    it lies below 0
    cannot be told   it contains 0

Without statistics of pictures (`metrics/bootstrap/resampling.py`), the means decide.
"""

from collections.abc import Mapping
from typing import Any

from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"

# Row -> seed -> figure -> what pictures add to it.
Statistics = Mapping[str, Mapping[int, Mapping[str, resampling.Statistic]]]


def judge(
  table: experiments.Table,
  claim: experiments.Claim,
  means: Mapping[str, Mapping[str, float]],
  statistics: Statistics,
) -> dict[str, Any]:
  """A claim of table.json.

  Args:
    table: of the claim.
    claim: which rows differ in which figure.
    means: row -> figure -> mean over seeds.
    statistics: of the runs that kept some.
  """
  better, worse = means[claim.better][claim.key], means[claim.worse][claim.key]
  above = better < worse if claim.lower else better > worse
  verdict, interval = HOLDS if above else FAILS, None
  found = _difference(claim, statistics)
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
    "paper": printed(table, claim),
    "interval": interval,
    "verdict": verdict,
  }


def _difference(claim: experiments.Claim, statistics: Statistics) -> resampling.Difference | None:
  first, second = statistics.get(claim.better, {}), statistics.get(claim.worse, {})
  seeds = [
    seed for seed in sorted(first) if claim.key in first[seed] and claim.key in second.get(seed, {})
  ]
  if not seeds:
    return None
  return resampling.compare(
    [first[seed][claim.key] for seed in seeds], [second[seed][claim.key] for seed in seeds]
  )


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
    seeds = f"{interval['seeds']} seed{'s' if interval['seeds'] > 1 else ''}"
    parts.append(
      f"difference {interval['low']:+.2f} to {interval['high']:+.2f}, 95 %, {seeds}, "
      f"{interval['pictures']:,} pictures"
    )
  if claim["paper"]:
    pair = " against ".join(f"{value:g}" for value in claim["paper"]["figures"])
    parts.append(f"in the paper {pair}, {claim['paper']['setting']}")
  words = f"{claim['better']} is {side} {claim['worse']} in {heading}"
  return f"- {verdict[claim['verdict']]}: {words} ({'; '.join(parts)})."
