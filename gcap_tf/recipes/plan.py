"""In which order the runs of several papers are trained, so that claims are judged early.

Claims come first, the cheapest first: the price of a claim is the minutes of the rows that it is
about and of those they need, unless an earlier claim has paid for them. Its rows are trained with
every seed before the next claim begins. Runs that are finished cost nothing.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gcap_tf.recipes import experiments
from gcap_tf.training.methods import captioning, contrastive, matching, self_critical

# Minutes of 1,000 steps with the sizes of the scale "photographs" (192 units; 64 pairs or 32
# pictures a step, 16 for the GVD family) on 2 quiet cores: POS-SCAN and Up-Down measured on
# photographs, the others by their ratio to these in docs/results.md.
_MATCHERS = {"scan": 1.9, "pos_scan": 2.6, "bfan": 3.2, "pfan": 2.9, "sgraf": 4.6}
_CAPTIONERS = {"updown": 4.5, "gvd": 2.9, "distributed": 2.9, "cyclical": 3.7, "adaptive": 6.0}
_OTHER = 5.0
_CONSTRAINED = 1.3  # Times the minutes of the matcher alone.
_BRANCH = 1.0  # What each further branch costs, in branches.
_CYCLE = 1.27  # The second pass through the decoder.
_FINE_TUNED = {self_critical.ScstTrainingConfig: 4.5, contrastive.ContrastiveTrainingConfig: 26.0}
_START = 0.7  # Minutes to start, to read the data and to evaluate.


# (paper, rows, seed) -> what must be trained for them.
ToTrain = Callable[[str, Sequence[str], int], Sequence[experiments.Row]]


@dataclasses.dataclass(frozen=True)
class Step:
  """One run.

  Attributes:
    paper, row, seed: whose.
    minutes: what it is expected to take.
    needs: rows of the same seed that must be trained before.
  """

  paper: str
  row: str
  seed: int
  minutes: float
  needs: tuple[str, ...] = ()

  @property
  def name(self) -> str:
    return f"{self.paper}/{self.row}/seed_{self.seed}"


def order(
  tables: Mapping[str, experiments.Table],
  seeds: Sequence[int],
  every_row: bool = False,
  to_train: ToTrain | None = None,
) -> list[Step]:
  """The runs of all claims, the cheapest claim first; with `every_row`, the other rows after.

  Args:
    tables: by paper.
    seeds: of every row.
    every_row: whether rows without a claim are wanted.
    to_train: what some rows of a paper still cost with a seed; default: all that they need.
  """
  steps: list[Step] = []
  planned: set[tuple[str, str]] = set()
  claims = [(paper, claim) for paper, table in tables.items() for claim in table.claims]

  def wanted(paper: str, names: Iterable[str]) -> list[experiments.Row]:
    rows = experiments.in_order(tables[paper], list(names))
    return [row for row in rows if (paper, row.name) not in planned]

  def add(paper: str, rows: Sequence[experiments.Row]) -> None:
    planned.update((paper, row.name) for row in rows)
    steps.extend(_step(paper, row, seed) for seed in seeds for row in rows)

  @functools.cache
  def left(paper: str, *names: str) -> list[experiments.Row]:
    if to_train is None:
      return experiments.in_order(tables[paper], list(names)) * len(seeds)
    return [row for seed in seeds for row in to_train(paper, names, seed)]

  def price(item: tuple[str, experiments.Claim]) -> float:
    paper, claim = item
    rows = left(paper, claim.worse, claim.better)
    return sum(minutes(row.training) for row in rows if (paper, row.name) not in planned)

  while claims:
    claims.remove(cheapest := min(claims, key=price))
    paper, claim = cheapest
    add(paper, wanted(paper, (claim.worse, claim.better)))
  if every_row:
    rest = [(paper, row.name) for paper, table in tables.items() for row in table.rows]
    for paper, name in sorted(rest, key=lambda item: price_of_row(tables, *item)):
      add(paper, wanted(paper, (name,)))
  return steps


def price_of_row(tables: Mapping[str, experiments.Table], paper: str, name: str) -> float:
  return minutes(tables[paper].row(name).training)


def _step(paper: str, row: experiments.Row, seed: int) -> Step:
  return Step(paper, row.name, seed, minutes(row.training), tuple(experiments.needs(row.training)))


def minutes(training: Any) -> float:
  """What a run is expected to take on 2 quiet cores, at a scale that limits its steps."""
  return round(_START + getattr(training, "max_steps", 0) / 1000 * _thousand_steps(training), 2)


def _thousand_steps(training: Any) -> float:
  if type(training) in _FINE_TUNED:
    return _FINE_TUNED[type(training)] * training.images / 32
  if isinstance(training, matching.MatcherTrainingConfig):
    constraints = training.losses.ccr_weight + training.losses.ccs_weight > 0
    price = _MATCHERS.get(training.model, _OTHER) * training.batch_size / 64
    return price * (_CONSTRAINED if constraints else 1.0)
  if isinstance(training, captioning.CaptionerTrainingConfig):
    usual = 16 if training.model in ("gvd", "distributed", "cyclical") else 32
    price = _CAPTIONERS.get(training.model, _OTHER) * training.images / usual
    branches = training.options.get("branches", 4) if training.model == "distributed" else 1
    cycle = _CYCLE if training.losses.reconstruction_weight else 1.0
    return price * (1.0 + _BRANCH * (branches - 1)) * cycle
  return 0.0
