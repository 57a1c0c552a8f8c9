"""Tests of gcap_tf/training/methods/scst_training.py."""

import dataclasses
import pickle
import shutil

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import run_folders
from gcap_tf.training import caption_table, schedules
from gcap_tf.training.methods import scst, scst_training
from tests.training import fine_tuned, small_runs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  """A folder with data, start, matcher."""
  folder = tmp_path_factory.mktemp("scst")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  fine_tuned.matcher(folder / "matcher", data)
  return folder


def make_config(place, **options):
  chosen = {
    "start": str(place / "start"),
    "images": 6,
    "epochs": 2,
    "sampling": scst.ScstConfig(samples=2, max_length=9),
    "schedule": schedules.ScheduleConfig("constant", 0.01),
  } | options
  return scst_training.ScstTrainingConfig(**chosen)


def train(place, config, run):
  return scst_training.train(prepared_data.PreparedData(place / "data"), config, run)


def test_a_run_that_was_stopped_ends_as_one_that_was_not_and_needs_no_other_folder(
  place, tmp_path, capsys
):
  start = shutil.copytree(place / "start", tmp_path / "start")
  config = make_config(
    place, start=str(start), rewards="cider:1,matcher:0.5,bleu:2", matcher=str(place / "matcher")
  )
  figures = train(place, config, tmp_path / "whole")
  said = capsys.readouterr().out
  assert f"reward: pos_scan from {place / 'matcher'} (nouns by table)" in said
  assert "the start: cider" in said and "cider" in figures
  train(place, dataclasses.replace(config, epochs=1), tmp_path / "halves")
  train(place, config, tmp_path / "halves")
  for whole, halves in zip(
    fine_tuned.weights(tmp_path / "whole", 4), fine_tuned.weights(tmp_path / "halves", 4),
    strict=True,
  ):  # fmt: skip
    np.testing.assert_array_equal(whole, halves)
  curves = [
    [line for line in fine_tuned.lines(tmp_path / run) if line["step"] == 4]
    for run in ("whole", "halves")
  ]
  assert curves[0] == curves[1]
  parts = curves[0][0]
  total = parts["reward_cider"] + 0.5 * parts["reward_matcher"] + 2 * parts["reward_bleu"]
  np.testing.assert_allclose(parts["reward_sample"], total, rtol=1e-5)
  assert fine_tuned.lines(tmp_path / "whole")[0].keys() == {"step", "val_cider"}
  assert "starts NEGATIVE" in (tmp_path / "whole" / "rewards.md").read_text()
  shutil.rmtree(start)
  assert run_folders.load(tmp_path / "whole").name == "neuraltalk2"


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"rewards": "cider:1,matcher:1"}, "ask for a matcher: name its run folder with --matcher"),
    ({"matcher": "m"}, "--matcher=m is named but not used"),
    ({"teacher": "t"}, "--teacher=t is named but not used"),
    ({"sampling": scst.ScstConfig(distill_weight=0.1)}, "name a matcher with --teacher=RUN"),
    ({"start": ""}, "--start=RUN"),
    ({"rewards": "matcher:1", "matcher": "START"}, "holds a captioner .*, not a matcher"),
    ({"rewards": "matcher:1", "matcher": "WIDE"}, "regions of 5 features, .* has 8"),
  ],
)
def test_what_does_not_fit_is_one_line(place, tmp_path, options, message):
  if options.get("matcher") == "WIDE":
    data = prepared_data.PreparedData(place / "data")
    fine_tuned.matcher(tmp_path / "wide", data, feature_size=5)
  paths = {"START": str(place / "start"), "WIDE": str(tmp_path / "wide")}
  if options.get("matcher") in paths:
    options = options | {"matcher": paths[options["matcher"]]}
  with pytest.raises(errors.UserError, match=message):
    train(place, make_config(place, **options), tmp_path / "run")


def test_frequencies_are_counted_once_and_kept(place, tmp_path):
  split = prepared_data.PreparedData(place / "data").split("train")
  vocabulary = run_folders.load(place / "start").vocabulary
  table, stamp = caption_table.read(split, vocabulary), caption_table.mark(split, vocabulary)
  counted = scst_training.frequencies(tmp_path, "", table, stamp)
  kept = scst_training.frequencies(tmp_path, "", None, stamp)
  np.testing.assert_array_equal(counted.idf, kept.idf)
  with pytest.raises(errors.UserError, match="belong to vocabulary"):
    scst_training.frequencies(tmp_path, "", table, "another-dataset")


def test_frequencies_of_another_program_are_read_and_those_of_other_data_refused(place, tmp_path):
  split = prepared_data.PreparedData(place / "data").split("train")
  table = caption_table.read(split, run_folders.load(place / "start").vocabulary)
  expected = table.document_frequency()

  def write(images, shift):
    grams = {}
    for key, count in zip(expected.keys.tolist(), expected.counts, strict=True):
      ids = []
      while key:
        ids.insert(0, (key & 0xFFFF) - 1)
        key >>= 16
      grams[tuple(str(n + shift if n else 0) for n in ids)] = float(count)
    path = tmp_path / f"other-{images}-{shift}-idxs.p"
    path.write_bytes(pickle.dumps({"document_frequency": grams, "ref_len": images}))
    return str(path)

  found = scst_training.frequencies(tmp_path / "a", write(12, 0), table, "stamp")
  np.testing.assert_array_equal(found.idf, expected.idf)
  with pytest.raises(errors.UserError, match="count 999 pictures, the training split has 12"):
    scst_training.frequencies(tmp_path / "b", write(999, 0), table, "stamp")
  with pytest.raises(errors.UserError, match="of the training captions' n-grams"):
    scst_training.frequencies(tmp_path / "c", write(12, 40), table, "stamp")


def test_a_fine_tuned_run_can_be_fine_tuned_again(place, tmp_path):
  once = make_config(place, max_steps=1)
  train(place, once, tmp_path / "once")
  train(place, dataclasses.replace(once, start=str(tmp_path / "once")), tmp_path / "twice")
  words = [
    run_folders.load(tmp_path / run).config["training"]["max_words"] for run in ("once", "twice")
  ]
  assert words == [8, 8]
