"""Tests of gcap_tf/runs/packed_run.py."""

import json
import shutil

import numpy as np
import pytest

from gcap_tf import errors, files, locks
from gcap_tf.decoding import confidence
from gcap_tf.runs import packed_run, photograph_runs, run_answers, run_folders
from tests.export import picture_captioner, tiny_runs

FIGURES = {"cider": 81.25, "f1_all": 25.0, "spice": 22.5}


def test_a_packed_run_is_small_loads_as_any_and_names_no_folder(tmp_path):
  run = tiny_runs.trained_run(tmp_path / "run")
  size = packed_run.pack(tmp_path / "run", tmp_path / "out", FIGURES, "val, greedy")
  written = sorted(path.name for path in (tmp_path / "out").iterdir())
  assert written == [
    "MODEL_CARD.md", "config.json", "manifest.json", "metrics.json", "vocabulary.json",
    "weights.npz", "word_classes.json",
  ]  # fmt: skip
  assert size == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())
  loaded = run_folders.load(tmp_path / "out", "captioner")
  assert loaded.vocabulary == run.vocabulary and loaded.model.config == run.model.config
  for ours, theirs in zip(run.model.variables, loaded.model.variables, strict=True):
    np.testing.assert_allclose(theirs.numpy(), ours.numpy(), rtol=1e-3, atol=1e-4)
  text = (tmp_path / "out" / "config.json").read_text()
  assert "/home/me" not in text
  config = json.loads(text)
  assert not {"data", "command", "start"} & set(config)
  assert config["training"]["teacher"] == "teacher"
  assert config["object_classes"] == ["dog", "and/or"]
  assert files.read_json(tmp_path / "out" / "metrics.json") == FIGURES


def test_packing_again_keeps_figures_and_bits(tmp_path):
  tiny_runs.trained_run(tmp_path / "run")
  packed_run.pack(tmp_path / "run", tmp_path / "once", FIGURES, "val")
  packed_run.pack(tmp_path / "once", tmp_path / "twice")
  for name in ("config.json", "metrics.json", "vocabulary.json", "MODEL_CARD.md"):
    assert (tmp_path / "once" / name).read_text() == (tmp_path / "twice" / name).read_text()
  once, twice = (np.load(tmp_path / name / "weights.npz") for name in ("once", "twice"))
  for key in once.files:
    np.testing.assert_array_equal(once[key], twice[key])


def test_earlier_stages_are_listed_from_the_first_on(tmp_path):
  tiny_runs.trained_run(tmp_path / "first")
  tiny_runs.trained_run(tmp_path / "second", start=str(tmp_path / "first"), method="scst")
  tiny_runs.trained_run(tmp_path / "third", start=str(tmp_path / "second"), method="contrastive")
  packed_run.pack(tmp_path / "third", tmp_path / "out")
  config = files.read_json(tmp_path / "out" / "config.json")
  assert [stage.get("method") for stage in config["earlier_stages"]] == [None, "scst"]
  card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
  assert card.index("1. from random weights") < card.index("2. scst") < card.index("3. contrastive")
  assert str(tmp_path) not in card


def test_a_fine_tuned_run_can_be_averaged_with_its_start(tmp_path):
  start = tiny_runs.trained_run(tmp_path / "first")
  tiny_runs.trained_run(tmp_path / "second", start=str(tmp_path / "first"), method="scst")
  tuned = run_folders.load(tmp_path / "second")
  for variable in tuned.model.variables:
    variable.assign(variable + 1.0)
  before = [variable.numpy() for variable in start.model.variables]
  packed_run.blend_with_start(tuned, 0.75)
  for variable, first in zip(tuned.model.variables, before, strict=True):
    np.testing.assert_allclose(variable.numpy(), first + 0.25, atol=1e-6)
  packed_run.pack(tmp_path / "second", tmp_path / "out", start_share=0.75)
  card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
  assert "3. weights: 0.75 of 1 + 0.25 of 2" in card
  tiny_runs.trained_run(tmp_path / "third", start=str(tmp_path / "second"), method="scst")
  again = run_folders.load(tmp_path / "third")
  packed_run.blend_with_start(again, 1.0)
  for variable, first in zip(again.model.variables, before, strict=True):
    np.testing.assert_array_equal(variable.numpy(), first)
  with pytest.raises(errors.UserError, match="was not fine-tuned from another run"):
    packed_run.pack(tmp_path / "first", tmp_path / "other", start_share=0.5)


def test_runs_with_the_same_start_can_be_averaged(tmp_path):
  first = tiny_runs.trained_run(tmp_path / "first")
  for name in "ab":
    tiny_runs.trained_run(tmp_path / name, start=str(tmp_path / "first"), method="scst")
  a, b = (run_folders.load(tmp_path / name) for name in "ab")
  for variable in b.model.variables:
    variable.assign(variable + 1.0)
  packed_run.average(a, [b, b, b])
  for variable, before in zip(a.model.variables, first.model.variables, strict=True):
    np.testing.assert_allclose(variable.numpy(), before.numpy() + 0.75, atol=1e-6)
  packed_run.pack(tmp_path / "a", tmp_path / "out", others=[tmp_path / "b"])
  card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
  assert "the mean of 2 runs of this stage" in card
  tiny_runs.trained_run(tmp_path / "again", start=str(tmp_path / "out"), method="scst")
  packed_run.pack(tmp_path / "again", tmp_path / "later")
  assert "the mean of 2 runs of this stage" in (tmp_path / "later" / "MODEL_CARD.md").read_text()
  with pytest.raises(errors.UserError, match="did not begin with the same run"):
    packed_run.pack(tmp_path / "a", tmp_path / "other", others=[tmp_path / "first"])


def test_the_start_of_an_average_is_the_last_run_on_captions(tmp_path):
  tiny_runs.trained_run(tmp_path / "language")
  captions = tiny_runs.trained_run(tmp_path / "captions", start=str(tmp_path / "language"))
  tiny_runs.trained_run(tmp_path / "tuned", start=str(tmp_path / "captions"), method="scst")
  tuned = run_folders.load(tmp_path / "tuned")
  for variable in tuned.model.variables:
    variable.assign(variable + 1.0)
  assert packed_run.blend_with_start(tuned, 1.0).folder == captions.folder
  packed_run.pack(tmp_path / "tuned", tmp_path / "out", start_share=0.5)
  card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
  assert "4. weights: 0.5 of 2 + 0.5 of 3" in card


def test_a_run_that_began_with_an_average_says_so(tmp_path):
  tiny_runs.trained_run(tmp_path / "first")
  tiny_runs.trained_run(tmp_path / "second", start=str(tmp_path / "first"), method="scst")
  packed_run.pack(tmp_path / "second", tmp_path / "packed", start_share=0.75)
  tiny_runs.trained_run(tmp_path / "third", start=str(tmp_path / "packed"), method="scst")
  packed_run.pack(tmp_path / "third", tmp_path / "out", start_share=0.5)
  card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
  first, rest = card.split("then weights: 0.75 of 1 + 0.25 of 2")
  assert "2. scst" in first and "3. scst" in rest and "4. weights: 0.5 of 2 + 0.5 of 3" in rest


def test_a_folder_that_is_something_else_is_left_alone(tmp_path):
  tiny_runs.trained_run(tmp_path / "run")
  (tmp_path / "mine").mkdir()
  (tmp_path / "mine" / "thesis.txt").write_text("x")
  with pytest.raises(errors.UserError, match="is not a packed run; choose another --out"):
    packed_run.pack(tmp_path / "run", tmp_path / "mine")
  assert (tmp_path / "mine" / "thesis.txt").exists()


def test_figures_are_a_file_or_its_last_line(tmp_path):
  path = tmp_path / "figures"
  path.write_text(json.dumps(FIGURES, indent=2))
  assert packed_run.read_figures(path) == FIGURES
  path.write_text(f"CIDEr 81.25\n\n{json.dumps(FIGURES)}\n")
  assert packed_run.read_figures(path) == FIGURES
  for wrong in ("CIDEr 81.25\n", "[1]", ""):
    path.write_text(wrong)
    with pytest.raises(errors.UserError, match="neither the file nor its last line"):
      packed_run.read_figures(path)
  with pytest.raises(errors.UserError, match="does not exist"):
    packed_run.read_figures(tmp_path / "none")


def test_a_calibration_is_packed_with_the_weights_that_it_is_of(tmp_path):
  run = tiny_runs.trained_run(tmp_path / "run")
  fitted = confidence.Calibration((1.0,) * 5, 0.0, (1.0,) * 3, 0.0)
  run_answers.write(run.folder / run_answers.FILE, fitted, {})
  packed_run.pack(tmp_path / "run", tmp_path / "out")
  assert run_answers.read(tmp_path / "out" / run_answers.FILE) == fitted


def test_a_captioner_of_photographs_takes_its_detector_along(tmp_path):
  run = picture_captioner.write(tmp_path)
  before = photograph_runs.load(run)
  size = packed_run.pack(run, tmp_path / "packed")
  packed = tmp_path / "packed"
  assert size == sum(path.stat().st_size for path in packed.rglob("*") if path.is_file())
  shutil.rmtree(run)
  found = photograph_runs.load(packed)
  assert found.detector.folder == packed / "detector"
  assert found.recipe.regions == before.recipe.regions
  assert found.recipe.detector == "detector" and found.recipe.fingerprint
  card = (packed / "MODEL_CARD.md").read_text()
  assert "It sees what its detector finds" in card and "Photographs were used." in card


def test_nothing_but_a_packed_run_is_replaced(tmp_path):
  tiny_runs.trained_run(tmp_path / "run")
  packed_run.pack(tmp_path / "run", tmp_path / "out")
  packed_run.pack(tmp_path / "run", tmp_path / "out")
  (tmp_path / "out" / "notes.txt").write_text("mine")
  with pytest.raises(errors.UserError, match=r"notes\.txt.*which would be lost"):
    packed_run.pack(tmp_path / "run", tmp_path / "out")
  (tmp_path / "out" / "notes.txt").unlink()
  with pytest.raises(errors.UserError, match="--out and --run are both"):
    packed_run.pack(tmp_path / "out", tmp_path / "out")
  with (
    locks.hold(tmp_path / "out"),
    pytest.raises(errors.UserError, match="being written by another program"),
  ):
    packed_run.pack(tmp_path / "run", tmp_path / "out")
