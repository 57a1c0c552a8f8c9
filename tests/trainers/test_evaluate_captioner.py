"""Tests of trainers/evaluate_captioner.py and trainers/caption.py."""

import json

import pytest

from gcap_tf.runs import run_folders
from tests.trainers import command_line
from tests.training import small_runs

EVALUATE = "trainers.evaluate_captioner"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("evaluate")
  data = small_runs.data(folder)
  vocabulary = data.build_vocabulary("captioner", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("captioner", "updown", {**small_runs.CAPTIONER_SIZES, **sizes})
  for seed in (1, 2):
    run_folders.save(folder / "run" / f"seed_{seed}", "captioner", "updown", model, vocabulary)
  return folder


def test_beam_search_is_scored_and_saved_for_every_seed(folder, tmp_path):
  done = command_line.run(
    EVALUATE,
    f"--run={folder / 'run'}",
    f"--data={folder / 'data'}",
    "--split=val",
    "--decode=beam",
    "--metrics=bleu,cider",
    f"--save_captions={tmp_path / 'captions.json'}",
  )
  figures = command_line.figures(done)
  assert {"bleu_1", "cider", "f1_all", "f1_loc", "attention_accuracy"} <= figures.keys()
  # Both seeds hold the same weights.
  assert figures["seeds"] == [1, 2] and figures["cider_std"] == 0
  assert len(json.loads((tmp_path / "captions_seed_2.json").read_text())) == 5


def test_fewer_and_foreign_regions_are_scored(folder):
  done = command_line.run(
    EVALUATE,
    f"--run={folder / 'run' / 'seed_1'}",
    f"--data={folder / 'data'}",
    "--split=val",
    "--metrics=cider",
    "--max_regions=2",
    "--drop_regions=0.5",
    "--label_names=coco",
  )
  figures = command_line.figures(done)
  assert {"cider", "f1_all", "answered", "faulty"} <= figures.keys()
  assert "attention_accuracy" not in figures


def test_an_unknown_metric_is_one_line(folder):
  done = command_line.run(
    EVALUATE,
    f"--run={folder / 'run' / 'seed_1'}",
    f"--data={folder / 'data'}",
    "--split=val",
    "--metrics=blue",
  )
  assert 'unknown metric "blue"' in command_line.error(done)
