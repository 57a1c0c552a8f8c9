import numpy as np
import tensorflow as tf

from gcap_tf.layers import linear


def test_dense_is_an_affine_map_of_the_last_axis():
  layer = linear.dense(3, 2, "map")
  x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
  y = layer(tf.constant(x))
  np.testing.assert_allclose(y, x @ layer.kernel.numpy() + layer.bias.numpy(), atol=1e-5)
  assert len(linear.dense(3, 2, "map", use_bias=False).weights) == 1


def test_dense_starts_uniform_within_one_over_the_root_of_its_inputs():
  layer = linear.dense(100, 400, "map")
  for values in (layer.kernel.numpy(), layer.bias.numpy()):
    assert 0.095 < np.abs(values).max() <= 0.1
    assert abs(values.std() - 0.1 / np.sqrt(3)) < 0.005


def test_weights_have_paths_that_saved_runs_know():
  assert [w.path for w in linear.dense(3, 2, "map").weights] == ["map/kernel", "map/bias"]
  assert [w.path for w in linear.embedding(3, 2, "words").weights] == ["words/embeddings"]


def test_embedding_looks_up_rows_and_starts_standard_normal():
  table = linear.embedding(200, 50, "table")
  rows = table(tf.constant([[3, 3], [0, 199]]))
  np.testing.assert_array_equal(rows[1, 1], table.embeddings[199])
  assert rows.shape == (2, 2, 50)
  assert abs(np.std(table.embeddings) - 1.0) < 0.05
