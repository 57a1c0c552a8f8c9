"""Tests of gcap_tf/saved_graphs.py."""

import pytest
import tensorflow as tf

from gcap_tf import errors, saved_graphs
from serving import servables


def save(folder, function):
  module = tf.Module()
  module.answer = tf.function(function, input_signature=[tf.TensorSpec([], tf.string)])
  tf.saved_model.save(module, str(folder), signatures={"serving_default": module.answer})
  return folder


def test_a_model_that_writes_a_file_is_refused_and_writes_none(tmp_path):
  def evil(text):
    with tf.control_dependencies([tf.io.write_file(str(tmp_path / "taken"), text)]):
      return {"out": tf.identity(text)}

  folder = save(tmp_path / "evil", evil)
  for load in (saved_graphs.check, servables.Servable):
    with pytest.raises(errors.UserError, match="WriteFile, which reaches for files"):
      load(folder)
  assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize(
  "function",
  [
    lambda text: {"out": tf.io.read_file(text)},
    lambda text: {"out": tf.numpy_function(lambda x: x, [text], tf.string)},
    lambda text: {"out": tf.io.matching_files(text)},
  ],
)
def test_models_that_read_files_or_call_python_are_refused(tmp_path, function):
  with pytest.raises(errors.UserError, match="reaches for files or Python"):
    saved_graphs.check(save(tmp_path / "model", function))


def test_a_model_that_only_computes_is_loaded(tmp_path):
  saved_graphs.check(save(tmp_path / "model", lambda text: {"out": tf.strings.lower(text)}))


def test_a_folder_that_is_no_model_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"has no saved_model\.pb"):
    saved_graphs.check(tmp_path)
  (tmp_path / "saved_model.pb").write_bytes(b"\xff" * 9)
  with pytest.raises(errors.UserError, match="is damaged"):
    saved_graphs.check(tmp_path)
