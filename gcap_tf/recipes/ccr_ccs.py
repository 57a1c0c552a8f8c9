"""More Than Just Attention: Improving Cross-Modal Attentions with Contrastive Constraints.

Chen et al., WACV 2023, arXiv:2105.09597. SCAN, PFAN, BFAN and SGRAF, alone and with the
constraints CCR and CCS on their attention; and the published settings of these matchers.

    python -m trainers.train_matcher --recipe=scan_t2i_avg_f30k --data=data/f30k --run=runs/scan
    python -m trainers.train_matcher --recipe=sgraf_saf_ccr_ccs_f30k --data=data/f30k --run=runs/saf
    python -m trainers.reproduce --paper=ccr_ccs --data=data/f30k --out=results/ccr_ccs

Matchers read 36 regions of 2048 features and 5 captions a picture. Printed recalls (at 1, 5, 10
of captions for pictures, i2t, and of pictures for captions, t2i) are for 1,000 test pictures of
Flickr30k. Headline rows of the papers are often ensembles of two runs: see ENSEMBLES.

The paper trains every combination of constraint weights {0.1, 1} and margins {0, 0.1, 0.2},
and prints the best result without the combination. Presets and rows take one of them, `CHOSEN`;
`constraint_search.py` has them all:

    python -m trainers.reproduce --paper=ccr_ccs --search=scan_both --split=val \\
      --data=data/f30k --out=results/search
"""

import dataclasses
from typing import Any

from gcap_tf.recipes import experiments, settings
from gcap_tf.training import schedules
from gcap_tf.training.methods import matching

# The point of the paper's grid (`constraint_search.py`) that presets and rows take.
CHOSEN = {"weight": 1.0, "margin": 0.1}

_SCAN = "Lee et al., ECCV 2018"
_PFAN = "Wang et al., IJCAI 2019, the authors' repository"
_SGRAF = "Diao et al., AAAI 2021, the authors' repository"
_CCR_CCS = "Chen et al., WACV 2023, Table 1"


def _recalls(*, i2t: tuple[float, ...], t2i: tuple[float, ...]) -> experiments.Printed:
  """Recalls at 1, 5 and 10 of both directions, and their sum."""
  found = {f"i2t_r{k}": value for k, value in zip((1, 5, 10), i2t, strict=True)}
  found |= {f"t2i_r{k}": value for k, value in zip((1, 5, 10), t2i, strict=True)}
  return {**found, "rsum": round(sum(found.values()), 1)}


# Table 3: attention on the test split of Flickr30k Entities. PFAN is not in it.
_ATTENTION = {
  "scan": dict(attention_precision=32.79, attention_recall=65.30, attention_f1=39.96),
  "scan_ccr": dict(attention_precision=36.30, attention_recall=66.80, attention_f1=43.10),
  "scan_ccs": dict(attention_precision=37.28, attention_recall=64.97, attention_f1=43.38),
  "scan_both": dict(attention_precision=38.81, attention_recall=64.62, attention_f1=44.44),
  "bfan": dict(attention_precision=46.08, attention_recall=63.32, attention_f1=48.91),
  "bfan_ccr": dict(attention_precision=50.21, attention_recall=64.20, attention_f1=51.78),
  "bfan_ccs": dict(attention_precision=49.16, attention_recall=61.44, attention_f1=49.74),
  "bfan_both": dict(attention_precision=51.13, attention_recall=62.97, attention_f1=51.73),
  "sgraf": dict(attention_precision=44.54, attention_recall=61.98, attention_f1=47.91),
  "sgraf_ccr": dict(attention_precision=45.22, attention_recall=64.07, attention_f1=49.12),
  "sgraf_ccs": dict(attention_precision=47.43, attention_recall=60.41, attention_f1=49.20),
  "sgraf_both": dict(attention_precision=49.48, attention_recall=62.12, attention_f1=50.90),
}


def _preset(
  name: str,
  *,
  model: str,
  epochs: int,
  every: int,
  rate: float = 2e-4,
  printed: experiments.Printed | None = None,
  source: str = "",
  **options: Any,
) -> experiments.Preset:
  """A matcher whose rate falls to a tenth `every` so many epochs."""
  training = matching.MatcherTrainingConfig(
    model=model,
    options=options,
    vocabulary_splits="train_val",
    epochs=epochs,
    schedule=schedules.ScheduleConfig("step_decay", rate, factor=0.1, every=every),
  )
  return experiments.Preset(name=name, training=training, printed=printed or {}, source=source)


def _scan_presets() -> list[experiments.Preset]:
  kinds = {
    "t2i_lse": dict(direction="t2i", aggregation="log_sum_exp", lambda_lse=6.0),
    "t2i_avg": dict(direction="t2i", aggregation="mean"),
    "i2t_lse": dict(direction="i2t", aggregation="log_sum_exp", lambda_lse=5.0),
    "i2t_avg": dict(direction="i2t", aggregation="mean"),
  }
  printed = {
    "t2i_lse": _recalls(i2t=(61.1, 85.4, 91.5), t2i=(43.3, 71.9, 80.9)),
    "t2i_avg": _recalls(i2t=(61.8, 87.5, 93.7), t2i=(45.8, 74.4, 83.0)),
    "i2t_lse": _recalls(i2t=(67.7, 88.9, 94.0), t2i=(44.0, 74.2, 82.6)),
    "i2t_avg": _recalls(i2t=(67.9, 89.0, 94.4), t2i=(43.9, 74.2, 82.8)),
  }
  coco = {**kinds, "i2t_lse": kinds["i2t_lse"] | {"lambda_lse": 20.0}}
  f30k_run = dict(model="scan", epochs=30, every=15, source=_SCAN)
  coco_run = dict(model="scan", epochs=20, every=10, rate=5e-4)
  return [
    *(_preset(f"scan_{k}_f30k", **f30k_run, printed=printed[k], **kinds[k]) for k in kinds),
    *(_preset(f"scan_{k}_coco", **coco_run, **coco[k]) for k in kinds),
  ]


def _other_presets() -> list[experiments.Preset]:
  saf = _recalls(i2t=(75.6, 92.7, 96.9), t2i=(56.5, 82.0, 88.4))
  sgr = _recalls(i2t=(76.6, 93.7, 96.6), t2i=(56.1, 80.9, 87.0))
  sgraf = dict(model="sgraf", source=_SGRAF)
  # The rate of BFAN on f30k never falls: its 15 epochs end with the first step.
  bfan, bfan_coco = dict(epochs=15, every=15), dict(epochs=20, every=15, rate=5e-4)
  pfan, pfan_coco = dict(epochs=30, every=15), dict(epochs=30, every=15, rate=5e-4)
  return [
    *(_preset(f"bfan_{f}_f30k", model="bfan", **bfan, focus=f) for f in ("equal", "prob")),
    *(_preset(f"bfan_{f}_coco", model="bfan", **bfan_coco, focus=f) for f in ("equal", "prob")),
    *(_preset(f"pfan_{d}_f30k", model="pfan", **pfan, direction=d) for d in ("t2i", "i2t")),
    *(_preset(f"pfan_{d}_coco", model="pfan", **pfan_coco, direction=d) for d in ("t2i", "i2t")),
    _preset("sgraf_saf_f30k", epochs=30, every=20, printed=saf, **sgraf, head="SAF"),
    _preset("sgraf_sgr_f30k", epochs=40, every=30, printed=sgr, **sgraf, head="SGR"),
    _preset("sgraf_saf_coco", model="sgraf", epochs=20, every=10, head="SAF"),
    _preset("sgraf_sgr_coco", model="sgraf", epochs=20, every=10, head="SGR"),
    _preset("vsepp_f30k", model="vsepp", epochs=30, every=15),
  ]


def _constrained(preset: experiments.Preset) -> experiments.Preset:
  """The same matcher with both constraints."""
  return experiments.Preset(
    name=_constrained_name(preset.name),
    training=dataclasses.replace(preset.training, losses=_losses(("ccr", "ccs"))),
  )


def _losses(constraints: tuple[str, ...], **chosen: Any) -> matching.MatchingLosses:
  """The ranking loss with these constraints."""
  values = {f"{name}_{part}": value for name in constraints for part, value in CHOSEN.items()}
  return matching.MatchingLosses(**values | chosen)


def _constrained_name(name: str) -> str:
  model, _, data = name.rpartition("_")
  return f"{model}_ccr_ccs_{data}"


_PAIRS = {
  "scan": ("scan_t2i_avg_f30k", "scan_i2t_lse_f30k"),
  "pfan": ("pfan_t2i_f30k", "pfan_i2t_f30k"),
  "bfan": ("bfan_equal_f30k", "bfan_prob_f30k"),
  "sgraf": ("sgraf_saf_f30k", "sgraf_sgr_f30k"),
}
_PLAIN = (*_scan_presets(), *_other_presets())
_PAIRED = {name for pair in _PAIRS.values() for name in pair}
_PAIRED |= {name.replace("_f30k", "_coco") for name in _PAIRED}
_TRAINING = {preset.name: preset.training for preset in _PLAIN}
MATCHERS = (*_PLAIN, *(_constrained(preset) for preset in _PLAIN if preset.name in _PAIRED))


# Tables 1 and 2: recalls at 1, 5 and 10 of sentences, then of pictures, on the test split of
# Flickr30k and on the 5,000 test pictures of MS-COCO at once (PFAN has no such row). Rows are
# ensembles of two runs (see ENSEMBLES).
_PRINTED = {
  "scan": ((67.2, 90.7, 94.8, 48.4, 77.6, 84.9), (47.2, 77.6, 87.7, 34.7, 65.2, 77.3)),
  "scan_ccr": ((67.8, 91.1, 95.0, 49.4, 77.6, 85.3), (47.7, 78.3, 88.2, 36.2, 66.6, 78.2)),
  "scan_ccs": ((69.1, 91.1, 95.4, 50.8, 78.4, 85.6), (46.5, 78.5, 88.0, 36.5, 66.6, 78.3)),
  "scan_both": ((68.8, 91.6, 95.3, 51.1, 79.0, 86.5), (47.9, 78.1, 88.2, 36.9, 66.9, 78.4)),
  "pfan": ((69.7, 90.2, 94.1, 50.1, 78.6, 86.0), None),
  "pfan_ccr": ((70.3, 90.5, 94.7, 51.9, 79.4, 86.7), None),
  "pfan_ccs": ((70.3, 90.9, 95.2, 51.9, 79.2, 86.5), None),
  "pfan_both": ((70.9, 91.8, 95.6, 52.5, 79.6, 86.9), None),
  "bfan": ((70.7, 92.3, 96.3, 51.8, 79.3, 85.9), (52.5, 80.3, 89.5, 37.5, 66.7, 78.1)),
  "bfan_ccr": ((71.7, 92.8, 96.0, 53.2, 80.5, 87.1), (52.0, 81.5, 89.9, 38.7, 67.8, 78.8)),
  "bfan_ccs": ((71.0, 93.2, 96.0, 52.6, 79.4, 86.4), (53.8, 81.1, 89.9, 38.0, 67.3, 78.5)),
  "bfan_both": ((72.0, 93.4, 96.2, 53.1, 80.3, 86.9), (53.4, 81.3, 90.1, 38.4, 67.6, 78.6)),
  "sgraf": ((77.8, 94.5, 96.8, 59.0, 82.9, 88.6), (58.3, 84.8, 91.9, 41.8, 70.9, 81.2)),
  "sgraf_ccr": ((78.0, 95.2, 97.2, 59.5, 83.1, 88.7), (59.2, 84.8, 92.0, 42.2, 71.1, 81.7)),
  "sgraf_ccs": ((78.3, 94.6, 97.4, 59.6, 83.5, 89.0), (58.6, 85.0, 92.2, 42.2, 71.2, 81.6)),
  "sgraf_both": ((79.3, 95.2, 98.0, 59.8, 83.6, 88.8), (59.7, 85.0, 92.0, 42.3, 71.4, 81.9)),
}
_TABLE_1 = {name: _recalls(i2t=row[:3], t2i=row[3:]) for name, (row, _) in _PRINTED.items()}
_TABLE_2 = {name: _recalls(i2t=row[:3], t2i=row[3:]) for name, (_, row) in _PRINTED.items() if row}


def _ensemble(model: str, printed: experiments.Printed, source: str) -> experiments.Ensemble:
  return experiments.Ensemble(members=_PAIRS[model], printed=printed, source=source)


# Ensembles as the authors of the matchers print them, and with both constraints.
ENSEMBLES = {
  "scan_f30k": _ensemble("scan", _recalls(i2t=(67.4, 90.3, 95.8), t2i=(48.6, 77.7, 85.2)), _SCAN),
  "pfan_f30k": _ensemble("pfan", _recalls(i2t=(70.0, 91.8, 95.0), t2i=(50.4, 78.7, 86.1)), _PFAN),
  "bfan_f30k": _ensemble("bfan", _TABLE_1["bfan"], _CCR_CCS),
  "sgraf_f30k": _ensemble(
    "sgraf", _recalls(i2t=(78.4, 94.6, 97.5), t2i=(58.2, 83.0, 89.1)), _SGRAF
  ),
  **{
    f"{model}_ccr_ccs_f30k": experiments.Ensemble(
      members=tuple(map(_constrained_name, pair)),
      printed=_TABLE_1[f"{model}_both"],
      source=_CCR_CCS,
    )
    for model, pair in _PAIRS.items()
  },
}

_LABELS = {"scan": "SCAN", "bfan": "BFAN", "pfan": "PFAN", "sgraf": "SGRAF"}
# The two members of an ensemble: what follows the model in the names of their rows.
_MEMBERS = {
  "scan": {"": " t2i", "_i2t": " i2t"},
  "bfan": {"": " equal", "_prob": " prob"},
  "pfan": {"": " t2i", "_i2t": " i2t"},
  "sgraf": {"": " SAF", "_sgr": " SGR"},
}
# Suffix of a row's name -> suffix of its label, and the constraints of its losses.
_CONSTRAINTS = {
  "": ("", ()),
  "_ccr": (" + CCR", ("ccr",)),
  "_ccs": (" + CCS", ("ccs",)),
  "_both": (" + CCR & CCS", ("ccr", "ccs")),
}
COLUMNS = experiments.columns(
  attention_precision="Attention precision",
  attention_recall="Attention recall",
  attention_f1="Attention F1",
  i2t_r1="Sentences R@1",
  t2i_r1="Pictures R@1",
  rsum="rsum",
)
_DEPARTURES = (
  "The paper prints the best of all combinations of weights and margins, without naming it; rows "
  f"take the weight {CHOSEN['weight']:g} and the margin {CHOSEN['margin']:g}. --search=ROW trains "
  "them all.",
)


def table() -> experiments.Table:
  """Tables 1 to 3: each member alone, then the ensembles; test split."""
  kinds = [(model, constraint) for model in _MEMBERS for constraint in _CONSTRAINTS]
  rows = [
    *(_member(model, part, constraint) for model, constraint in kinds for part in _MEMBERS[model]),
    *(_average(model, constraint) for model, constraint in kinds),
  ]
  return experiments.Table(
    paper="ccr_ccs",
    split="test",
    columns=COLUMNS,
    rows=tuple(rows),
    claims=_claims(),
    departures=_DEPARTURES,
    correlations=tuple(
      experiments.Correlation(
        label=_LABELS[model],
        rows=tuple(model + constraint for constraint in _CONSTRAINTS),
        keys=("attention_f1", "rsum"),
        printed=printed,
      )
      for model, printed in (("scan", 0.967), ("bfan", 0.992), ("sgraf", 0.941))
    ),
    command=experiments.reproduce_command(
      "ccr_ccs", "--rows=scan,scan_both,bfan,bfan_both,pfan,pfan_both,sgraf,sgraf_both"
    ),
    cost="111 minutes on 2 CPU cores: 8 rows, 3 seeds",
    expected={
      "scan": dict(attention_f1=39.54, rsum=414.02),
      "scan_both": dict(attention_f1=50.31, rsum=408.16),
      "bfan": dict(attention_f1=50.39, rsum=444.56),
      "bfan_both": dict(attention_f1=52.44, rsum=444.4),
    },
  )


def _claims() -> tuple[experiments.Claim, ...]:
  pairs = [(f"{model}_both", model) for model in _MEMBERS]
  alone = [(f"scan_{kind}", "scan") for kind in ("ccr", "ccs")]
  return tuple(
    experiments.Claim(better=better, worse=worse, key=key)
    for better, worse in (*pairs, *alone)
    for key in ("attention_f1", "rsum")
  )


def _member(model: str, part: str, constraint: str) -> experiments.Row:
  suffix, names = _CONSTRAINTS[constraint]
  preset = _PAIRS[model][list(_MEMBERS[model]).index(part)]
  printed = {}
  if not part and model + constraint in _ATTENTION:
    printed = {settings.F30K_TEST: _ATTENTION[model + constraint]}
  return experiments.Row(
    name=model + part + constraint,
    label=_LABELS[model] + _MEMBERS[model][part] + suffix,
    training=dataclasses.replace(_TRAINING[preset], losses=_losses(names)),
    printed=printed,
  )


def _average(model: str, constraint: str) -> experiments.Row:
  name = model + constraint
  printed = {settings.F30K_TEST: _TABLE_1[name]}
  if name in _TABLE_2:
    printed[settings.COCO_TEST] = _TABLE_2[name]
  return experiments.Row(
    name=f"{model}_ensemble{constraint}",
    label=f"{_LABELS[model]}, ensemble{_CONSTRAINTS[constraint][0]}",
    training=experiments.Average(
      members=tuple(experiments.REFERENCE + model + part + constraint for part in _MEMBERS[model])
    ),
    printed=printed,
  )
