import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.vision import canvas


def _image(height, width, seed=0):
  return np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)


def test_a_picture_of_the_right_size_keeps_its_pixels():
  image = _image(24, 32)
  placed, content = canvas.place(image, 32)
  np.testing.assert_array_equal(placed[:24], image)
  np.testing.assert_array_equal(placed[24:], np.full((8, 32, 3), canvas.GREY))
  np.testing.assert_allclose(content, [1.0, 0.75])


@pytest.mark.parametrize(("height", "width"), [(7, 100), (100, 7), (1, 500), (33, 32), (64, 64)])
def test_the_aspect_is_kept(height, width):
  placed, content = canvas.place(_image(height, width), 32)
  assert placed.shape == (32, 32, 3)
  longest = max(height, width)
  expected = [max(1, round(32 * side / longest)) / 32 for side in (width, height)]
  np.testing.assert_allclose(content, expected)


def test_numbers_are_the_same_in_python_in_tf_data_and_in_a_graph():
  image = _image(50, 71)
  eager = canvas.place(image, 32)[0]
  graph = tf.function(
    lambda x: canvas.place(x, 32)[0], input_signature=[tf.TensorSpec([None, None, 3], tf.uint8)]
  )(image)
  dataset = tf.data.Dataset.from_tensors(image).map(lambda x: canvas.place(x, 32)[0])
  np.testing.assert_array_equal(graph, eager)
  np.testing.assert_array_equal(next(iter(dataset)), eager)


def test_boxes_go_to_the_canvas_and_back():
  boxes = np.array([[[0.1, 0.2, 0.5, 1.0]], [[0, 0, 1, 1]]], np.float32)
  content = np.array([[1.0, 0.5], [0.75, 1.0]], np.float32)
  placed = canvas.to_canvas(boxes, content)
  np.testing.assert_allclose(placed, [[[0.1, 0.1, 0.5, 0.5]], [[0, 0, 0.75, 1]]])
  np.testing.assert_allclose(canvas.to_picture(placed, content), boxes, rtol=1e-6)


def test_boxes_are_cut_at_the_edges_of_the_picture():
  cut = canvas.to_picture(np.array([[-0.1, 0.2, 0.9, 0.9]], np.float32), np.array([0.5, 1.0]))
  np.testing.assert_allclose(cut, [[0, 0.2, 1, 0.9]])
