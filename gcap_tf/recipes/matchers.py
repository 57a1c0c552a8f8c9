"""Published matcher runs: one preset a model, data set and printed row.

    from gcap_tf.recipes import matchers
    recipe = matchers.RECIPES.get("scan_t2i_avg_f30k")
    matching.train(data, recipe.training, "runs/scan")

`f30k` is Flickr30k (29,000 training pictures), `coco` is MS-COCO (113,287), 36 regions of
2048 features each, 5 captions a picture. Expected figures are what the authors printed
for the test split: recall at 1, 5, 10 of captions for pictures (i2t) and of pictures
for captions (t2i), on f30k 1,000 pictures, on COCO the mean over five folds of 1,000.
Headline rows of papers are often ensembles of two of these runs: see ENSEMBLES.
"""

import dataclasses

from gcap_tf import registry
from gcap_tf.training import schedules
from gcap_tf.training.methods import matching

Expected = dict[str, float]


@dataclasses.dataclass(frozen=True)
class MatcherRecipe:
  """How to train one model.

  Attributes:
    training: the whole configuration.
    data: "f30k" or "coco".
    expected: printed test figures; empty where none were printed for a single model.
    source: where they were printed.
  """

  training: matching.MatcherTrainingConfig
  data: str
  expected: Expected = dataclasses.field(default_factory=dict)
  source: str = ""


@dataclasses.dataclass(frozen=True)
class Ensemble:
  """A printed row that is the mean similarity of several runs.

  Attributes:
    members: names in RECIPES.
    expected: printed test figures.
    source: where they were printed.
  """

  members: tuple[str, ...]
  expected: Expected
  source: str


RECIPES: registry.Registry[MatcherRecipe] = registry.Registry("matcher recipe")


def recalls(text: str) -> Expected:
  """Six recalls of a table's row, i2t then t2i, and their sum."""
  keys = [f"{way}_r{k}" for way in ("i2t", "t2i") for k in (1, 5, 10)]
  values = [float(word) for word in text.split()]
  return {**dict(zip(keys, values, strict=True)), "rsum": round(sum(values), 1)}


def _add(
  name: str,
  model: str,
  data: str,
  epochs: int,
  every: int,
  rate: float,
  expected: str = "",
  source: str = "",
  losses: matching.MatchingLosses | None = None,
  **options,
) -> None:
  schedule = schedules.ScheduleConfig("step_decay", rate, factor=0.1, every=every)
  training = matching.MatcherTrainingConfig(
    model=model,
    options=options,
    epochs=epochs,
    schedule=schedule,
    losses=losses or matching.MatchingLosses(),
  )
  figures = recalls(expected) if expected else {}
  RECIPES.register(name)(MatcherRecipe(training, data, figures, source))


_CONSTRAINED = matching.MatchingLosses(ccr_weight=0.1, ccs_weight=0.1)
_SCAN = "Lee et al., ECCV 2018"
_SGRAF = "Diao et al., AAAI 2021, the authors' repository"
_CCR = "Chen et al., WACV 2023, Tables 1 and 2"

_SCAN_KINDS = {
  "t2i_lse": {"direction": "t2i", "aggregation": "log_sum_exp", "lambda_lse": 6.0},
  "t2i_avg": {"direction": "t2i", "aggregation": "mean"},
  "i2t_lse": {"direction": "i2t", "aggregation": "log_sum_exp", "lambda_lse": 5.0},
  "i2t_avg": {"direction": "i2t", "aggregation": "mean"},
}
_SCAN_F30K = {
  "t2i_lse": "61.1 85.4 91.5 43.3 71.9 80.9",
  "t2i_avg": "61.8 87.5 93.7 45.8 74.4 83.0",
  "i2t_lse": "67.7 88.9 94.0 44.0 74.2 82.6",
  "i2t_avg": "67.9 89.0 94.4 43.9 74.2 82.8",
}
for _kind, _options in _SCAN_KINDS.items():
  _add(f"scan_{_kind}_f30k", "scan", "f30k", 30, 15, 2e-4, _SCAN_F30K[_kind], _SCAN, **_options)
  if _kind == "i2t_lse":
    _options = {**_options, "lambda_lse": 20.0}
  _add(f"scan_{_kind}_coco", "scan", "coco", 20, 10, 5e-4, **_options)

_add("pos_scan_f30k", "pos_scan", "f30k", 30, 15, 2e-4, aggregation="mean")
for _focus in ("equal", "prob"):
  # The rate of the f30k run never falls: its 15 epochs end where the first step would be.
  _add(f"bfan_{_focus}_f30k", "bfan", "f30k", 15, 15, 2e-4, focus=_focus)
  _add(f"bfan_{_focus}_coco", "bfan", "coco", 20, 15, 5e-4, focus=_focus)
for _direction in ("t2i", "i2t"):
  _add(f"pfan_{_direction}_f30k", "pfan", "f30k", 30, 15, 2e-4, direction=_direction)
  _add(f"pfan_{_direction}_coco", "pfan", "coco", 30, 15, 5e-4, direction=_direction)
_add(
  "sgraf_saf_f30k",
  "sgraf",
  "f30k",
  30,
  20,
  2e-4,
  "75.6 92.7 96.9 56.5 82.0 88.4",
  _SGRAF,
  head="SAF",
)
_add(
  "sgraf_sgr_f30k",
  "sgraf",
  "f30k",
  40,
  30,
  2e-4,
  "76.6 93.7 96.6 56.1 80.9 87.0",
  _SGRAF,
  head="SGR",
)
for _head in ("SAF", "SGR"):
  _add(f"sgraf_{_head.lower()}_coco", "sgraf", "coco", 20, 10, 2e-4, head=_head)
_add("vsepp_f30k", "vsepp", "f30k", 30, 15, 2e-4)

# With both constraints on attention. The paper searches weights {0.1, 1} and margins
# {0, 0.1, 0.2} and prints the best, not which; these are the first values to try.
for _name in (
  "scan_t2i_avg_f30k",
  "scan_i2t_lse_f30k",
  "bfan_equal_f30k",
  "bfan_prob_f30k",
  "pfan_t2i_f30k",
  "pfan_i2t_f30k",
  "sgraf_saf_f30k",
  "sgraf_sgr_f30k",
):
  _base = RECIPES.get(_name)
  RECIPES.register(_name.replace("_f30k", "_ccr_ccs_f30k"))(
    MatcherRecipe(dataclasses.replace(_base.training, losses=_CONSTRAINED), "f30k")
  )


def _constrained(*members: str) -> tuple[str, ...]:
  return tuple(member.replace("_f30k", "_ccr_ccs_f30k") for member in members)


_PAIRS = {
  "scan": ("scan_t2i_avg_f30k", "scan_i2t_lse_f30k"),
  "pfan": ("pfan_t2i_f30k", "pfan_i2t_f30k"),
  "bfan": ("bfan_equal_f30k", "bfan_prob_f30k"),
  "sgraf": ("sgraf_saf_f30k", "sgraf_sgr_f30k"),
}
ENSEMBLES = {
  "scan_f30k": Ensemble(_PAIRS["scan"], recalls("67.4 90.3 95.8 48.6 77.7 85.2"), _SCAN),
  "pfan_f30k": Ensemble(
    _PAIRS["pfan"],
    recalls("70.0 91.8 95.0 50.4 78.7 86.1"),
    "Wang et al., IJCAI 2019, the authors' repository",
  ),
  "bfan_f30k": Ensemble(_PAIRS["bfan"], recalls("70.7 92.3 96.3 51.8 79.3 85.9"), _CCR),
  "sgraf_f30k": Ensemble(_PAIRS["sgraf"], recalls("78.4 94.6 97.5 58.2 83.0 89.1"), _SGRAF),
  "scan_ccr_ccs_f30k": Ensemble(
    _constrained(*_PAIRS["scan"]), recalls("68.8 91.6 95.3 51.1 79.0 86.5"), _CCR
  ),
  "pfan_ccr_ccs_f30k": Ensemble(
    _constrained(*_PAIRS["pfan"]), recalls("70.9 91.8 95.6 52.5 79.6 86.9"), _CCR
  ),
  "bfan_ccr_ccs_f30k": Ensemble(
    _constrained(*_PAIRS["bfan"]), recalls("72.0 93.4 96.2 53.1 80.3 86.9"), _CCR
  ),
  "sgraf_ccr_ccs_f30k": Ensemble(
    _constrained(*_PAIRS["sgraf"]), recalls("79.3 95.2 98.0 59.8 83.6 88.8"), _CCR
  ),
}
