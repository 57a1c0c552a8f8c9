"""Tests of trainers/evaluate_matcher.py: the program as a user runs it."""

import numpy as np
import pytest

from gcap_tf.runs import run_folders
from tests.trainers import command_line
from tests.training import small_runs

EVALUATE = "trainers.evaluate_matcher"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("evaluate")
  data = small_runs.data(folder)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", "pos_scan", {**small_runs.MATCHER_SIZES, **sizes})
  for name in ("run", "seeds/seed_3", "seeds/seed_4"):
    run_folders.save(folder / name, "matcher", "pos_scan", model, vocabulary)
  return folder


def test_one_run_and_a_folder_of_seeds_give_every_figure(folder, tmp_path):
  data = [f"--data={folder / 'data'}", "--split=val"]
  saved = f"--save_similarity={tmp_path / 'similarity.npy'}"
  one, seeds = command_line.run_many(
    [
      [EVALUATE, f"--run={folder / 'run'}", *data, saved],
      [EVALUATE, f"--run={folder / 'seeds'}", *data],
    ]
  )
  figures = command_line.figures(one)
  assert {"i2t_r1", "t2i_r10", "rsum", "attention_precision", "attention_f1"} <= figures.keys()
  assert np.load(tmp_path / "similarity.npy").shape == (5, 25)
  means = command_line.figures(seeds)
  # The same weights twice.
  assert means["seeds"] == [3, 4] and means["rsum_std"] == 0
  assert means["attention_f1"] == pytest.approx(figures["attention_f1"])


def test_wrong_flags_are_one_line(folder):
  run, data = f"--run={folder / 'run'}", f"--data={folder / 'data'}"
  neither, split = command_line.run_many([[EVALUATE, run], [EVALUATE, run, data, "--split=dev"]])
  assert "either --data or --precomp" in command_line.error(neither)
  assert 'no split "dev"; it has train, val' in command_line.error(split)
