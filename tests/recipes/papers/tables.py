"""What every paper's table must fulfil."""

from gcap_tf import config
from gcap_tf.captioners import catalog as captioners
from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import experiments, scales
from gcap_tf.training.methods import matching


def small(make_table) -> experiments.Table:
  return make_table(scales.SCALES.get("small"))


def check(make_table) -> None:
  """Options fit their models, claims and columns fit the rows, at every scale."""
  for name in scales.SCALES.names():
    table = make_table(scales.SCALES.get(name))
    columns = {column.key for column in table.columns}
    assert len({row.name for row in table.rows}) == len(table.rows)
    assert len(experiments.in_order(table)) == len(table.rows)
    for row in table.rows:
      assert row.printed.keys() <= columns
      if hasattr(row.training, "options"):
        _check_options(row.training)
    for claim in table.claims:
      assert claim.key in columns
      assert table.row(claim.better) != table.row(claim.worse)


def _check_options(training) -> None:
  is_matcher = isinstance(training, matching.MatcherTrainingConfig)
  models = matchers.MATCHERS if is_matcher else captioners.CAPTIONERS
  options = {**training.options, "vocabulary_size": 10}
  made = config.from_dict(models.get(training.model).Config, options, training.model)
  assert made.vocabulary_size == 10
