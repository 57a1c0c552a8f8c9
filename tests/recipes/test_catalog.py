"""Tests of gcap_tf/recipes/catalog.py: names of presets and tables, and measured scores."""
# bazel: data = ["//docs:files"]

import json
import pathlib

import pytest

from gcap_tf import errors
from gcap_tf.recipes import catalog, scales

TABLES = pathlib.Path(__file__).parent.parent.parent / "docs" / "results"


def test_every_paper_has_a_table_and_every_preset_a_name():
  assert len(catalog.TABLES) == 5
  assert len(catalog.CAPTIONERS.names()) == 32
  assert len(catalog.MATCHERS.names()) == 30


def test_a_misspelt_recipe_names_the_nearest():
  with pytest.raises(errors.UserError, match='did you mean "distributed_k4_f30k"'):
    catalog.CAPTIONERS.get("distributed_k4_f30")
  with pytest.raises(errors.UserError, match='did you mean "scan_t2i_avg_f30k"'):
    catalog.MATCHERS.get("scan_t2i_avg_f30")


@pytest.mark.parametrize("paper", catalog.TABLES)
def test_expected_scores_command_and_cost_are_those_of_the_measured_table(paper):
  table = catalog.TABLES[paper](scales.SCALES.get("small"))
  (path,) = TABLES.glob(f"*_{paper}_scenes.json")
  measured = json.loads(path.read_text())
  assert table.command == measured["commands"][-1]
  figures = {row["name"]: row["figures"] for row in measured["rows"]}
  for name, scores in table.expected.items():
    for key, value in scores.items():
      assert round(figures[name][key]["mean"], 2) == value, (name, key)
  minutes = sum(row["minutes"] * len(row["seeds"]) for row in measured["rows"])
  assert table.cost.startswith(f"{minutes:.0f} minutes")
  assert f"{len(measured['rows'])} rows" in table.cost
