"""Checks that hold for every paper's presets and table."""

from gcap_tf import config
from gcap_tf.recipes import experiments, scales, settings

SIZES = {"vocabulary_size": 10, "feature_size": 8}


def small(make_table) -> experiments.Table:
  return scales.scaled(make_table(), scales.SCALES.get("small"))


def check_presets(presets, models) -> None:
  """Every preset is a valid configuration of its model."""
  for preset in presets:
    training = preset.training
    made = config.from_dict(
      models.get(training.model).Config, {**SIZES, **training.options}, preset.name
    )
    assert made.feature_size == 8
    assert config.from_dict(type(training), config.to_dict(training)) == training
    assert preset.data in ("f30k", "coco", "instapic", "anet")
    assert bool(preset.printed) <= bool(preset.source)


def check_table(make_table, models) -> None:
  """Options fit their models, claims and columns fit the rows, at every scale."""
  for name in scales.SCALES.names():
    table = scales.scaled(make_table(), scales.SCALES.get(name))
    columns = {column.key for column in table.columns}
    assert len({row.name for row in table.rows}) == len(table.rows)
    assert len(experiments.in_order(table)) == len(table.rows)
    for row in table.rows:
      assert all(isinstance(setting, settings.Setting) for setting in row.printed)
      assert bool(row.departures) == (name != "full" and not _is_average(row))
      if hasattr(row.training, "options"):
        options = {**SIZES, **row.training.options}
        registry = next(found for found in models if row.training.model in found.names())
        made = config.from_dict(registry.get(row.training.model).Config, options, row.name)
        assert made.vocabulary_size == 10
    for curve in table.curves:
      assert all(table.row(name) for name in curve.points)
    for claim in table.claims:
      assert claim.key in columns
      assert table.row(claim.better) != table.row(claim.worse)


def _is_average(row: experiments.Row) -> bool:
  return isinstance(row.training, experiments.Average)
