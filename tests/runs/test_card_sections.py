"""Tests of gcap_tf/runs/card_sections.py; tests of both cards show them whole."""

from gcap_tf.runs import card_sections
from tests.export import tiny_runs


def test_headlines_are_on_the_scale_of_papers():
  figures = {"f1_all": 25.27, "cider": 80.2, "spice": None, "length": 9.0}
  assert card_sections.headlines(figures) == [("CIDEr", 80.2), ("F1_all, %", 25.27)]
  assert card_sections.headlines({"rsum": 300.5, "note": "x"}) == [("rsum", 300.5)]


def test_known_terms_are_stated_and_others_said_to_be_unknown(tmp_path):
  run = tiny_runs.captioner_run(tmp_path)
  run.config["dataset"] = "flickr30k_entities"
  assert "researchers and educators" in card_sections.licence(run, "")[2]
  assert card_sections.licence(run, "MIT")[2] == "MIT"
  run.config["dataset"] = "scenes"
  assert card_sections.licence(run, "")[2].startswith("Not stated")


def test_options_that_are_off_are_left_out():
  options = {"a": 0, "b": {"c": "none", "d": 2}, "e": [], "f": "x"}
  assert card_sections.chosen(options) == {"b.d": 2, "f": "x"}


def test_a_stage_shows_neither_idle_options_nor_the_machine():
  losses = {
    "box_supervision": "none",
    "box_weight": 0.1,
    "distill_weight": 0.5,
    "distill_loss": "kl",
  }
  losses["scheduled_sampling"] = {"start": -1, "every": 5}
  stage = {"losses": losses, "epochs": 2, "compute": {"replicas": 4}}
  lines = card_sections.stages({"kind": "captioner", "training": stage})
  assert "No box of an annotated word was shown to the attention in any stage." in lines
  assert lines[-5:-1] == [
    "1. from random weights",
    "   - losses.distill_weight: `0.5`",
    "   - losses.distill_loss: `kl`",
    "   - epochs: `2`",
  ]
  supervised = {"losses": {**losses, "box_supervision": "nll"}}
  lines = card_sections.stages({"kind": "captioner", "training": supervised})
  assert "   - losses.box_weight: `0.1`" in lines
  assert not any(line.startswith("No box") for line in lines)


def test_a_run_without_training_shows_none():
  assert card_sections.stages({}) == []
