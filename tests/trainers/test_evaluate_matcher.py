"""Tests of trainers/evaluate_matcher.py: the program as a user runs it."""

import numpy as np
import pytest

from gcap_tf.training import runs
from tests.trainers import command_line
from tests.training import small_runs

EVALUATE = "trainers.evaluate_matcher"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("evaluate")
  data = small_runs.data(folder)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = runs.make_model("matcher", "pos_scan", {**small_runs.MATCHER_SIZES, **sizes})
  for name in ("run", "seeds/seed_3", "seeds/seed_4"):
    runs.save(folder / name, "matcher", "pos_scan", model, vocabulary)
  return folder


def test_prepared_data_gives_every_figure_and_the_similarities(folder, tmp_path):
  done = command_line.run(
    EVALUATE,
    f"--run={folder / 'run'}",
    f"--data={folder / 'data'}",
    "--split=val",
    f"--save_similarity={tmp_path / 'similarity.npy'}",
  )
  figures = command_line.figures(done)
  assert {"i2t_r1", "t2i_r10", "rsum", "attention_precision", "attention_f1"} <= figures.keys()
  assert np.load(tmp_path / "similarity.npy").shape == (5, 25)


def test_a_folder_of_seeds_gives_means_and_deviations(folder):
  done = command_line.run(
    EVALUATE, f"--run={folder / 'seeds'}", f"--data={folder / 'data'}", "--split=val"
  )
  figures = command_line.figures(done)
  assert figures["seeds"] == [3, 4] and figures["rsum_std"] == 0  # The same weights twice.
  assert {"attention_f1", "attention_f1_std"} <= figures.keys()


def test_wrong_flags_are_one_line(folder):
  run = f"--run={folder / 'run'}"
  assert "either --data or --precomp" in command_line.error(command_line.run(EVALUATE, run))
  data = f"--data={folder / 'data'}"
  done = command_line.run(EVALUATE, run, data, "--split=dev")
  assert 'no split "dev"; it has train, val' in command_line.error(done)
