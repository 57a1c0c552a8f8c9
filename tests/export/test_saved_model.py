import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from export import saved_model, warmup_requests
from gcap_tf import errors, locks
from serving import servables
from tests.export import tiny_runs

CONFIG = saved_model.ExportConfig(max_length=5, object_words=("man", "horse"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  return tiny_runs.captioner_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
  out = tmp_path_factory.mktemp("models")
  (out / ".1.partial-7" / "variables").mkdir(parents=True)  # of an export that was killed
  return saved_model.export(run, out, CONFIG)


def test_first_version_is_one_and_the_next_follows_the_largest(exported, tmp_path):
  assert exported.name == "1"
  assert saved_model.next_version(tmp_path / "absent") == 1
  for name in ("3", "12", "latest", ".13.partial-7"):
    (tmp_path / name).mkdir()
  assert saved_model.next_version(tmp_path) == 13


def test_version_folder_holds_what_a_server_and_a_reader_need(exported):
  names = {p.relative_to(exported).as_posix() for p in exported.rglob("*") if p.is_file()}
  assert {
    "saved_model.pb",
    "variables/variables.index",
    "assets.extra/tf_serving_warmup_requests",
    "assets.extra/vocabulary.json",
    "MODEL_CARD.md",
  } <= names
  assert [p.name for p in exported.parent.iterdir()] == ["1"], "nothing else is left behind"


def test_exported_version_loads_as_tensorflow_serving_loads_it_and_answers_its_warmup_requests(
  exported,
):
  servable = servables.Servable(exported)
  assert set(servable.signatures) == {"serving_default", "greedy", "beam"}
  assert servable.run_warmup_requests() == 3 * len(warmup_requests.BATCHES)
  servable.close()


def test_existing_version_is_refused(run, exported):
  with pytest.raises(errors.UserError, match="exists already"):
    saved_model.export(run, exported.parent, saved_model.ExportConfig(version=1))


def test_wrong_answer_after_reloading_is_not_published(run, tmp_path, monkeypatch):
  def damaged_save(module, folder, signatures):
    for weight in module.weights.stored:
      weight.assign(weight + 1.0)
    tf.saved_model.save(module, folder, signatures=signatures)

  monkeypatch.setattr(saved_model, "save", damaged_save)
  with pytest.raises(errors.UserError, match="differs between the saved model"):
    saved_model.export(run, tmp_path, CONFIG)
  assert list(tmp_path.iterdir()) == []


def test_failure_while_writing_leaves_no_version(run, tmp_path, monkeypatch):
  def full_disk(*unused):
    raise OSError(28, os.strerror(28))

  monkeypatch.setattr(warmup_requests, "write", full_disk)
  with pytest.raises(OSError, match="No space left"):
    saved_model.export(run, tmp_path, CONFIG)
  assert list(tmp_path.iterdir()) == []


def test_half_precision_export_verifies_against_its_own_weights(run, tmp_path):
  config = saved_model.ExportConfig(max_length=4, float16_weights=True, object_words=("man",))
  folder = saved_model.export(run, tmp_path, config)
  dtypes = {
    tf.as_dtype(dtype)
    for name, dtype in tf.train.load_checkpoint(str(folder / "variables" / "variables"))
    .get_variable_to_dtype_map()
    .items()
    if "stored" in name
  }
  assert dtypes == {tf.float16}


@pytest.mark.parametrize("name", ["beam_size", "max_length"])
def test_options_below_one_are_refused(run, name, tmp_path):
  config = saved_model.ExportConfig(**{name: 0})
  with pytest.raises(errors.UserError, match=f"export.{name} is 0; expected 1 or more"):
    saved_model.export(run, tmp_path, config)


def test_model_card_lists_every_input_and_output(exported):
  card = pathlib.Path(exported / "MODEL_CARD.md").read_text()
  for line in (
    "# captioner updown, version 1",
    "| in | `features` | float32 | [?, ?, 5] |",
    "| out | `attention` | float32 | [?, 5, ?] |",
    "| out | `words` | string | [?, 5] |",
  ):
    assert line in card


def test_grounded_words_are_those_asked_for(exported):
  loaded = tf.saved_model.load(str(exported))
  given = tiny_runs.regions(16, 4, seed=3)
  answer = loaded.signatures["greedy"](**{k: tf.constant(v) for k, v in given.items()})
  wanted = np.isin(answer["words"].numpy(), [b"man", b"horse"])
  assert wanted.any()
  np.testing.assert_array_equal(answer["grounded"], wanted)


def test_an_export_does_not_write_into_a_run_or_next_to_another_export(tmp_path):
  run = tiny_runs.trained_run(tmp_path / "run")
  with pytest.raises(errors.UserError, match="holds a run"):
    saved_model.export(run, tmp_path / "run")
  with (
    locks.hold(tmp_path / "out"),
    pytest.raises(errors.UserError, match="being written by another program"),
  ):
    saved_model.export(run, tmp_path / "out")
