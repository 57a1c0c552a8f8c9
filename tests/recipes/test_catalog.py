"""Tests of gcap_tf/recipes/catalog.py: names of presets and tables, and measured scores."""
# bazel: data = ["//docs:files"]

import json
import pathlib
import re

import pytest

from gcap_tf import errors
from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import catalog, experiments, scales

TABLES = pathlib.Path(__file__).parent.parent.parent / "docs" / "results"


def test_every_paper_has_a_table_and_every_preset_a_name():
  assert len(catalog.TABLES) == 5
  assert len(catalog.CAPTIONERS.names()) == 39
  assert len(catalog.MATCHERS.names()) == 38
  assert len(catalog.FINE_TUNING.names()) == 6


def test_a_misspelt_recipe_names_the_nearest():
  with pytest.raises(errors.UserError, match='did you mean "distributed_k4_f30k"'):
    catalog.CAPTIONERS.get("distributed_k4_f30")
  with pytest.raises(errors.UserError, match='did you mean "scan_t2i_avg_f30k"'):
    catalog.MATCHERS.get("scan_t2i_avg_f30")


@pytest.mark.parametrize("paper", catalog.TABLES)
def test_expected_scores_command_and_cost_are_those_of_the_measured_table(paper):
  table = catalog.table(paper, scales.SCALES.get("small"))
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


@pytest.mark.parametrize(
  ("model", "recipe"),
  [
    ("gvd", "gvd_f30k"),
    ("adaptive", "adaptive_coco"),
    ("neuraltalk2", "neuraltalk2_coco"),
  ],
)
def test_a_model_without_a_recipe_has_the_settings_of_its_paper(model, recipe):
  published = catalog.CAPTIONERS.get(recipe).training
  found = experiments.differences(published, catalog.for_model(model))
  assert found == {"vocabulary_splits": ("all", "train")}


def test_up_down_without_a_recipe_departs_in_scheduled_sampling_too():
  published = catalog.CAPTIONERS.get("updown_f30k").training
  found = experiments.differences(published, catalog.for_model("updown"))
  assert found == {
    "losses.scheduled_sampling.start": (0, -1),
    "vocabulary_splits": ("all", "train"),
  }


def test_models_trained_in_two_stages_are_so_by_default():
  branches, cycle = catalog.for_model("distributed"), catalog.for_model("cyclical")
  assert (branches.first_stage_epochs, branches.images) == (20, 64)
  assert branches.schedule.kind == "step_decay"
  assert (cycle.first_stage_epochs, cycle.images, cycle.schedule.kind) == (35, 32, "plateau")
  assert cycle.losses.cross_entropy_weight == cycle.losses.reconstruction_weight == 0.5
  assert catalog.for_model("neuraltalk2").max_words == catalog.for_model("adaptive").max_words == 18


@pytest.mark.parametrize("paper", catalog.TABLES)
def test_full_rows_are_the_presets_of_their_paper(paper):
  """A row that has a preset of the same model and losses has its whole configuration."""
  known = [*catalog.CAPTIONERS.names(), *catalog.MATCHERS.names()]
  presets = [
    (catalog.CAPTIONERS if name in catalog.CAPTIONERS.names() else catalog.MATCHERS).get(name)
    for name in known
  ]
  epochs = {(preset.training.model, preset.training.epochs) for preset in presets}
  for row in catalog.TABLES[paper]().rows:
    if hasattr(row.training, "model"):
      assert (row.training.model, row.training.epochs) in epochs, row.name


@pytest.mark.parametrize("paper", catalog.TABLES)
def test_published_rows_count_words_as_the_authors_programs_and_smaller_scales_say_so(paper):
  published = catalog.table(paper, scales.SCALES.get("full"))
  small = catalog.table(paper, scales.SCALES.get("small"))
  for row in published.rows:
    if hasattr(row.training, "vocabulary_splits"):
      authors = "train_val" if row.training.model in matchers.MATCHERS.names() else "all"
      assert row.training.vocabulary_splits == authors, row.name
      assert small.row(row.name).departures["vocabulary_splits"] == (authors, "train")


def test_rows_that_are_said_to_be_elsewhere_are_there():
  for paper, make_table in catalog.TABLES.items():
    found = re.findall(r"--paper=(\w+) --rows=([\w,.]+\w)", " ".join(make_table().elsewhere))
    for other, rows in found:
      assert other != paper
      assert all(catalog.TABLES[other]().row(name) for name in rows.split(","))
