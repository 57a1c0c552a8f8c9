"""Learning to Generate Grounded Visual Captions without Localization Supervision (ECCV 2020).

Tables 8 and 11 (perfect detector, test split) and the variants of Tables 4, 6, 9 and 10.
Figures printed for another detector or split than the row's data are left out.
"""

import dataclasses

from gcap_tf.recipes import captioners, experiments, scales

_COLUMNS = (
  *experiments.CAPTION_COLUMNS,
  experiments.Column("f1_all_per_sentence", "F1_all per sentence", 100.0),
  experiments.Column("f1_loc_per_sentence", "F1_loc per sentence", 100.0),
)


def _printed(text: str) -> dict[str, float]:
  """The figures of a row of the paper's Tables 8 and 11."""
  return dict(zip((column.key for column in _COLUMNS), map(float, text.split()), strict=True))


_BASELINE = _printed("32.1 76.3 22.0 20.82 48.74 43.21 77.81")
_SUPERVISED = _printed("32.0 75.6 22.3 23.19 52.83 51.43 90.76")
_CYCLICAL = _printed("32.8 80.2 22.7 25.27 54.54 46.98 81.56")
_ZERO_REPRESENTATION = _printed("32.2 79.0 22.4 25.65 55.81 48.99 85.99")


def table(scale: scales.Scale) -> experiments.Table:
  base = captioners.CYCLE

  def row(name: str, label: str, printed=None, localizer="linear", **losses) -> experiments.Row:
    training = dataclasses.replace(
      base,
      options={"localizer": localizer},
      first_stage_epochs=0 if localizer == "none" else base.first_stage_epochs,
      losses=dataclasses.replace(base.losses, **losses),
    )
    return experiments.Row(name, label, scales.captioner(training, scale), printed or {})

  weights = [
    row(
      f"cyclical_{decode}_{rebuild}",
      f"Cyclical ({decode / 10}, {rebuild / 10})",
      cross_entropy_weight=decode / 10,
      reconstruction_weight=rebuild / 10,
    )
    for decode, rebuild in ((8, 2), (6, 4), (4, 6), (2, 8))
  ]
  rows = (
    row("baseline", "Baseline", _BASELINE, "none", reconstruction_weight=0.0),
    row(
      "supervised",
      "Baseline, grounding supervised",
      _SUPERVISED,
      "none",
      reconstruction_weight=0.0,
      box_supervision="extend_nll",
    ),
    row("cyclical", "Cyclical", _CYCLICAL),
    row("zero_loss", "Cyclical (zero loss)", reconstruction_words="nouns"),
    row(
      "zero_representation",
      "Cyclical (zero representation)",
      _ZERO_REPRESENTATION,
      localized_words="nouns",
    ),
    row("mlp", "Cyclical (MLP localiser)", localizer="mlp"),
    row("hidden", "Cyclical (localiser using h^A)", localizer="hidden"),
    row("consistency", "Cyclical with attention consistency", consistency_weight=0.5),
    *weights,
  )
  return experiments.Table("cyclical", "test", _COLUMNS, rows, _CLAIMS)


_CLAIMS = (
  experiments.Claim("cyclical", "baseline", "f1_all"),
  experiments.Claim("cyclical", "baseline", "f1_loc"),
  experiments.Claim("cyclical", "baseline", "cider"),
  experiments.Claim("supervised", "baseline", "f1_loc"),
  experiments.Claim("cyclical", "mlp", "f1_all"),
)
