import numpy as np
import tensorflow as tf

from gcap_tf.vision import canvas, picture_batches, pictures
from tests.vision import picture_files


def test_a_damaged_file_leaves_the_others_alone():
  data = picture_files.encoded(picture_files.photograph(), "PNG")
  found = picture_batches.load(tf.constant([data, b"hello", data]), 64)
  assert found.ok.numpy().tolist() == [True, False, True]
  assert found.image_size.numpy().tolist() == [[48, 32], [1, 1], [48, 32]]
  expected, content = canvas.place(pictures.decode(data), 64)
  np.testing.assert_array_equal(found.canvases[2], expected)
  np.testing.assert_array_equal(found.content[0], content)
  assert b"not a picture" in found.problem[1].numpy()
