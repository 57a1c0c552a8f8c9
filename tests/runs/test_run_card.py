"""Tests of gcap_tf/runs/run_card.py."""

from gcap_tf import files
from gcap_tf.runs import run_card
from tests.export import tiny_runs


def test_the_card_has_use_limits_data_metrics_licence_and_training(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  run.config.update(
    dataset="flickr30k_entities",
    evaluated="val, beam 3",
    training={"epochs": 3, "losses": {"distill_weight": 0.5, "box_weight": 0.0}},
  )
  files.write_json(tmp_path / "metrics.json", {"cider": 81.25, "f1_loc": 50.0, "meteor": None})
  card = run_card.text(run)
  for part in (
    "# captioner updown",
    "## Use",
    "It sees no pixels",
    "Trained on the train split of `flickr30k_entities`.",
    "(`val, beam 3`)",
    "| CIDEr | 81.25 |",
    "| F1_loc, % | 50.00 |",
    "non-commercial",
    "1. from random weights",
    "- losses.distill_weight: `0.5`",
  ):
    assert part in card
  assert "METEOR" not in card and "box_weight" not in card


def test_a_captioner_of_features_is_not_said_to_see_labels_only(tmp_path):
  card = run_card.text(tiny_runs.captioner_run(tmp_path), licence="CC BY 4.0")
  assert "It sees no pixels" not in card
  assert "## Licence\n\nCC BY 4.0\n" in card
  assert "does not say what the weights were learned from" in card
