"""Tests of gcap_tf/training/fine_tuning/start_run.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import run_folders
from gcap_tf.training.fine_tuning import start_run
from tests.data import make_records
from tests.training import fine_tuned, small_runs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("fine_tuning")
  fine_tuned.captioner(folder / "start", small_runs.data(folder))
  return folder


@dataclasses.dataclass(frozen=True)
class Options:
  start: str = ""


def opened(place, folder, data="data"):
  return start_run.open_start(
    str(place / "start"), prepared_data.PreparedData(place / data), folder
  )


def test_the_new_run_has_the_words_and_options_of_its_start(place, tmp_path):
  start = opened(place, tmp_path / "run")
  data = prepared_data.PreparedData(place / "data")
  start_run.check(tmp_path / "run", start, Options("x"), data, "scst").write(0)
  run_folders.checkpoints.save(
    run_folders.checkpoints.best_path(tmp_path / "run"), model=start.model
  )
  run = run_folders.load(tmp_path / "run", "captioner")
  assert run.vocabulary == start.vocabulary and run.model.config == start.model.config
  assert run.config["method"] == "scst" and run.config["start"] == str(place / "start")
  opened(place, tmp_path / "run")  # The same start may go on.


def test_a_run_does_not_overwrite_its_start_or_another_run(place, tmp_path):
  with pytest.raises(errors.UserError, match="--start and --run are both"):
    opened(place, place / "start")
  data = prepared_data.PreparedData(place / "data")
  other = fine_tuned.captioner(tmp_path / "other", data)
  with pytest.raises(errors.UserError, match="holds another run"):
    opened(place, other)


def test_regions_of_another_size_are_refused(place, tmp_path):
  make_records.prepare_small(place / "narrow", feature_size=5)
  with pytest.raises(errors.UserError, match="regions of 5 features"):
    opened(place, tmp_path / "run", "narrow")


def test_captions_are_cut_as_the_start_cut_them_unless_asked(place, tmp_path):
  start = opened(place, tmp_path / "run")
  assert start_run.max_words(start, 0) == 8 and start_run.max_words(start, 11) == 11
  start.config["training"]["max_words"] = 0  # of a run that did not write down what it took
  assert start_run.max_words(start, 0) == 16


def test_the_starts_own_figures_are_written_once(tmp_path):
  asked = []

  def validate():
    asked.append(1)
    return {"cider": 40.0}

  for _ in range(2):
    start_run.record_start(tmp_path, validate)
  assert fine_tuned.lines(tmp_path) == [{"step": 0, "val_cider": 40.0}] and len(asked) == 1
