import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.vision import canvas, photographs, pictures
from tests.vision import tiny_photographs


def test_photographs_are_placed_and_mirrored(tmp_path):
  _, folder = tiny_photographs.make(tmp_path)
  paths = sorted(folder.glob("*.jpg"))[:2]
  for path, (placed, content) in zip(paths, photographs.canvases(paths, 32, 2), strict=True):
    image = pictures.read(path)
    np.testing.assert_array_equal(placed[0], canvas.place(image, 32)[0])
    np.testing.assert_array_equal(placed[1], canvas.place(image[:, ::-1], 32)[0])
    np.testing.assert_allclose(content, [1.0, 0.75])
  assert next(iter(photographs.canvases(paths, 32)))[0].shape == (1, 32, 32, 3)


def test_a_damaged_photograph_is_named(tmp_path):
  path = tmp_path / "bad.jpg"
  path.write_bytes(b"\xff\xd8\xff no picture")
  with pytest.raises(tf.errors.OpError, match=r"UserError: .*bad\.jpg"):
    list(photographs.canvases([path], 32))
