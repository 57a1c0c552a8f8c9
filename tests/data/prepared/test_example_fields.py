import numpy as np

from gcap_tf.data.prepared import example_fields, example_proto


def test_what_is_written_is_read():
  features = example_proto.Example().features.feature
  writer, reader = example_fields.FeatureWriter(features), example_fields.FeatureReader(features)
  writer.text("names", ["a", "ü"])
  writer.integers("numbers", [3, 4])
  writer.floats("rows", [np.array([1, 2], np.float32), np.array([3], np.float32)])
  writer.text_lists("word", [["x"], [], ["y", "z"]])
  assert reader.text("names") == ("a", "ü") and reader.integers("numbers") == [3, 4]
  assert reader.floats("rows").tolist() == [1, 2, 3]
  assert reader.text_lists("word") == [("x",), (), ("y", "z")]
  assert not reader.has("nothing") and reader.text("nothing") == ()


def test_short_floats_are_exact_either_way():
  features = example_proto.Example().features.feature
  writer, reader = example_fields.FeatureWriter(features), example_fields.FeatureReader(features)
  for name, values in (("short", [0.5, 2.0]), ("long", [0.1, 1e9])):
    rows = np.array(values, np.float32)
    writer.short_floats(name, rows)
    np.testing.assert_array_equal(reader.short_floats(name), rows)
  assert reader.has("short16") and reader.has("long")


def test_a_table_without_its_columns_of_zeros_comes_back_whole():
  features = example_proto.Example().features.feature
  writer, reader = example_fields.FeatureWriter(features), example_fields.FeatureReader(features)
  dense = np.array([[1, 2, 0], [0, 3, 0]], np.float32)
  sparse = np.array([[0, 0, 0.5, 0], [0, 0, 0.1, -0.0]], np.float32)
  for name, rows in (("dense", dense), ("sparse", sparse), ("zeros", np.zeros([49, 320]))):
    writer.table(name, rows.astype(np.float32))
    found = reader.table(name, *rows.shape)
    assert found.tobytes() == rows.astype(np.float32).tobytes()
  assert not reader.has("dense_columns") and reader.has("sparse_columns")
  assert len(reader.raw("zeros16")[0]) == 0
