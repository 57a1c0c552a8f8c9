"""Tests of trainers/recipe_flags.py."""

import dataclasses
import json

import pytest
from absl import flags
from absl.testing import flagsaver

from gcap_tf import errors
from gcap_tf.recipes import catalog
from tests.data import make_records
from trainers import recipe_flags

flags.FLAGS(["test"])


def train_one(data, config, folder, override):
  assert override is False
  return {"cider": float(config.seed), "pictures": len(data.split("train"))}


def config():
  return catalog.for_model("updown")


def test_help_lists_every_recipe_with_what_to_expect(capsys):
  with flagsaver.flagsaver(recipe="help"), pytest.raises(SystemExit) as ended:
    recipe_flags.chosen(catalog.CAPTIONERS, None)
  lines = capsys.readouterr().out.splitlines()
  assert not ended.value.code
  assert [line.split()[0] for line in lines] == catalog.CAPTIONERS.names()
  assert any("f1_loc 21.54" in line for line in lines)


def test_a_model_that_contradicts_its_recipe_is_refused():
  with flagsaver.flagsaver(recipe="gvd_f30k"):
    assert recipe_flags.chosen(catalog.CAPTIONERS, "gvd").training.model == "gvd"
    with pytest.raises(errors.UserError, match="--model=updown contradicts --recipe=gvd_f30k"):
      recipe_flags.chosen(catalog.CAPTIONERS, "updown")


def test_what_is_missing_is_named():
  with flagsaver.flagsaver(data="x"), pytest.raises(errors.UserError, match="--run is missing"):
    recipe_flags.train(config(), train_one)


def test_seeds_are_trained_in_turn_and_summed_up_in_the_last_line(tmp_path, capsys):
  make_records.prepare_small(tmp_path / "data", train=3, val=1)
  given = {"data": str(tmp_path / "data"), "run": str(tmp_path / "run"), "seeds": ["1", "3"]}
  with flagsaver.flagsaver(**given):
    recipe_flags.train(config(), train_one)
  found = json.loads(capsys.readouterr().out.splitlines()[-1])
  assert found == {
    "seeds": [1, 3], "cider": 2.0, "cider_std": 1.414, "pictures": 3.0, "pictures_std": 0.0,
  }  # fmt: skip
  kept = json.loads((tmp_path / "run" / "seed_3" / "figures.json").read_text())
  assert kept["options"]["seed"] == 3


def test_one_seed_overrides_the_configuration(tmp_path, capsys):
  make_records.prepare_small(tmp_path / "data", train=3, val=1)
  given = {"data": str(tmp_path / "data"), "run": str(tmp_path / "run"), "seed": 5}
  with flagsaver.flagsaver(**given):
    recipe_flags.train(dataclasses.replace(config(), seed=2), train_one)
  assert json.loads(capsys.readouterr().out.splitlines()[-1])["cider"] == 5.0


@pytest.mark.parametrize(
  ("given", "message"),
  [({"seeds": ["1", "x"]}, "expected whole numbers"), ({"seeds": ["1"], "seed": 2}, "not both")],
)
def test_seeds_that_make_no_sense_are_refused(tmp_path, given, message):
  make_records.prepare_small(tmp_path / "data", train=3, val=1)
  folders = {"data": str(tmp_path / "data"), "run": str(tmp_path / "run")}
  with flagsaver.flagsaver(**folders, **given), pytest.raises(errors.UserError, match=message):
    recipe_flags.train(config(), train_one)
