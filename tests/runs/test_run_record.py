"""Tests of gcap_tf/runs/run_record.py."""

import json

import keras
import pytest

from gcap_tf import errors, files
from gcap_tf.runs import checkpoints, packed_weights, run_record

WORDS = {"words": ["a", "b"], "labels": []}
DEFAULTS = {"seed": 1, "epochs": 3, "new_option": 5, "schedule": {"kind": "constant", "rate": 0.1}}


def values(**training):
  options = DEFAULTS | {"schedule": dict(DEFAULTS["schedule"])} | training
  return {
    "kind": "captioner",
    "model": "updown",
    "model_config": {"hidden_size": 4},
    "vocabulary": "abc",
    "training": options,
    "data": "/data",
    "data_sha256": "1234",
    "dataset": "scenes",
    "command": "train",
  }


def record(folder, changed=None, words=WORDS, **training):
  return run_record.Record(folder, values(**training) | (changed or {}), words, DEFAULTS)


def model(size=4):
  return keras.Sequential([keras.Input((2,)), keras.layers.Dense(size)])


@pytest.fixture(name="run")
def trained(tmp_path):
  """A run that stands at step 7."""
  folder = tmp_path / "run"
  record(folder).write(0)
  states = checkpoints.StepCheckpoints(folder / "checkpoints")
  states.save(7, model=model())
  checkpoints.save(checkpoints.best_path(folder), model=model())
  return folder


def content(folder):
  return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_settings_continue_and_change_no_byte(run):
  before = content(run)
  same = record(run)
  same.check(model())
  same.write(7)
  assert content(run) == before


def test_other_settings_are_refused_with_a_table_and_change_nothing(run):
  before = content(run)
  other = record(run, seed=2, schedule={"kind": "constant", "rate": 0.5})
  with pytest.raises(errors.UserError, match=r"other settings \(seed, schedule\.rate\)") as raised:
    other.check(model())
  rows = [line.split() for line in raised.value.details.splitlines()]
  assert rows[1:] == [["seed", "1", "2"], ["schedule.rate", "0.1", "0.5"]]
  assert "--override" in str(raised.value) and content(run) == before


def test_overridden_settings_are_recorded_with_their_step_and_the_old_ones_are_kept(run):
  for step, seed in ((7, 2), (9, 3)):
    other = record(run, {"command": f"train --seed={seed}"}, seed=seed)
    other.check(model(), override=True)
    other.write(step)
  config = files.read_sealed_json(run / "config.json", "options")
  assert config["training"]["seed"] == 3
  assert config["overrides"] == [
    {"step": 7, "changes": {"seed": [1, 2]}},
    {"step": 9, "changes": {"seed": [2, 3]}},
  ]
  history = run_record.read_history(run)
  assert [(line["step"], line["training"]["seed"]) for line in history] == [(0, 1), (7, 2), (9, 3)]
  assert [line["command"] for line in history] == ["train", "train --seed=2", "train --seed=3"]


def test_a_longer_run_is_no_other_run_unless_its_rates_depend_on_the_length(run, tmp_path):
  longer = record(run, epochs=9)
  longer.check(model())
  longer.write(7)
  assert files.read_sealed_json(run / "config.json", "options")["training"]["epochs"] == 9
  assert "overrides" not in files.read_sealed_json(run / "config.json", "options")
  cosine = {"kind": "cosine", "rate": 0.1}
  record(run, schedule=cosine).write(7)
  with pytest.raises(errors.UserError, match=r"other settings \(epochs\)"):
    record(run, schedule=cosine, epochs=20).check(model())


@pytest.mark.parametrize(
  ("changed", "message"),
  [
    ({"kind": "matcher"}, "holds another run .*kind captioner, not matcher"),
    ({"model": "gvd"}, "model updown, not gvd"),
    ({"method": "scst"}, "method null, not scst"),
    ({"vocabulary": "xyz"}, "vocabulary abc, not xyz"),
  ],
)
def test_another_run_is_refused_even_if_settings_may_change(run, changed, message):
  before = content(run)
  with pytest.raises(errors.UserError, match=message):
    record(run, changed).check(model(), override=True)
  assert content(run) == before


def test_other_region_labels_are_another_run(run):
  with pytest.raises(errors.UserError, match="other words or region labels"):
    record(run, words=WORDS | {"labels": ["dog"]}).check(model(), override=True)


def test_other_data_is_a_difference_and_another_place_of_it_is_none(run):
  record(run, {"data": "/elsewhere"}).check(model())
  with pytest.raises(errors.UserError, match=r"other settings \(data\)") as raised:
    record(run, {"data_sha256": "5678"}).check(model())
  assert "/data (1234)" in raised.value.details


def test_a_checkpoint_of_another_shape_is_refused_even_if_settings_may_change(run):
  before = content(run)
  with pytest.raises(errors.UserError, match="does not fit the model"):
    record(run, {"model_config": {"hidden_size": 5}}).check(model(5), override=True)
  assert content(run) == before


def test_an_option_that_an_earlier_version_did_not_have_counts_as_its_default(run):
  config = files.read_sealed_json(run / "config.json", "options")
  del config["training"]["new_option"]
  files.write_json(run / "config.json", config)
  record(run).check(model())
  with pytest.raises(errors.UserError, match="new_option"):
    record(run, new_option=6).check(model())


def test_a_model_option_at_its_default_is_no_difference(run):
  record(run, options={"hidden_size": 4}).check(model())
  with pytest.raises(errors.UserError, match=r"options\.hidden_size"):
    record(run, {"model_config": {"hidden_size": 5}}, options={"hidden_size": 5}).check(model())


def test_the_history_of_an_earlier_version_begins_with_its_configuration(run):
  (run / run_record.HISTORY).unlink()
  other = record(run, seed=2)
  other.check(model(), override=True)
  other.write(7)
  assert [line["training"]["seed"] for line in run_record.read_history(run)] == [1, 2]


def test_a_run_without_a_checkpoint_may_begin_again(tmp_path):
  record(tmp_path).write(0)
  again = record(tmp_path, seed=5)
  again.check(model())
  again.write(0)
  config = files.read_json(tmp_path / "config.json")
  assert config["training"]["seed"] == 5 and "overrides" not in config
  assert len(run_record.read_history(tmp_path)) == 2


def test_models_that_training_did_not_make_are_not_overwritten(run, tmp_path):
  packed_weights.save(packed_weights.path_of(tmp_path), model())
  with pytest.raises(errors.UserError, match="is a packed run"):
    record(tmp_path).check(model(), override=True)
  config = files.read_sealed_json(run / "config.json", "options")
  del config["training"]
  files.write_json(run / "config.json", config)
  with pytest.raises(errors.UserError, match="was not trained here"):
    record(run).check(model(), override=True)
  (tmp_path / "data").mkdir()
  (tmp_path / "data" / "dataset.json").write_text("{}")
  with pytest.raises(errors.UserError, match="holds prepared data"):
    record(tmp_path / "data").check(model())


def test_checkpoints_without_a_configuration_are_not_continued_in_silence(run):
  (run / "config.json").unlink()
  with pytest.raises(errors.UserError, match=r"no config\.json that says what made them"):
    record(run).check(model())
  record(run).check(model(), override=True)


@pytest.mark.parametrize("text", ["[1]", "{", json.dumps("x")])
def test_a_damaged_configuration_is_one_line(run, text):
  (run / "config.json").write_text(text)
  with pytest.raises(errors.UserError):
    record(run).check(model())
