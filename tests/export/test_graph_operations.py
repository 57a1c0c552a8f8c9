import tensorflow as tf

from export import graph_operations


class Module(tf.Module):
  @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
  def length(self, data):
    def longer():
      return tf.strings.length(tf.strings.upper(data))

    return tf.cond(data == "", lambda: 0, longer)

  @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
  def webp(self, data):
    return tf.io.decode_webp(data)


def test_operations_of_functions_count_and_functions_do_not(tmp_path):
  module = Module()
  tf.saved_model.save(module, str(tmp_path), signatures={"length": module.length})
  found = graph_operations.operations(tmp_path)
  assert {"StringUpper", "StringLength"} <= found
  assert not any(name.startswith("__inference") for name in found)


def test_new_operations_are_not_portable(tmp_path):
  module = Module()
  tf.saved_model.save(module, str(tmp_path), signatures={"webp": module.webp})
  assert graph_operations.not_portable(tmp_path) == ["DecodeWebP"]


def test_operations_of_other_packages_are_not_portable(tmp_path):
  import tensorflow_text

  class Cutter(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def cut(self, data):
      return tensorflow_text.WhitespaceTokenizer().tokenize(data).to_tensor()

  module = Cutter()
  tf.saved_model.save(module, str(tmp_path), signatures={"cut": module.cut})
  assert any("Whitespace" in name for name in graph_operations.not_portable(tmp_path))
