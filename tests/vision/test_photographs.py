import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from gcap_tf.vision import canvas, photographs, picture_views, pictures
from tests.vision import tiny_photographs


def test_photographs_are_placed_and_mirrored(tmp_path):
  _, folder = tiny_photographs.make(tmp_path)
  paths = sorted(folder.glob("*.jpg"))[:2]
  ids = [path.stem for path in paths]
  for path, (placed, content) in zip(paths, photographs.canvases(ids, paths, 32, 2), strict=True):
    image = pictures.read(path)
    np.testing.assert_array_equal(placed[0], canvas.place(image, 32)[0])
    np.testing.assert_array_equal(placed[1], canvas.place(image[:, ::-1], 32)[0])
    np.testing.assert_allclose(content, [[1.0, 0.75]] * 2)
  assert next(iter(photographs.canvases(ids, paths, 32)))[0].shape == (1, 32, 32, 3)


def test_boxes_of_a_view_stay_on_the_pixels_that_they_had(tmp_path):
  image = np.zeros((60, 80, 3), np.uint8)
  image[20:40, 30:50] = 255  # The box that is followed.
  path = tmp_path / "a.png"
  Image.fromarray(image).save(path)
  box = np.array([[30 / 80, 20 / 60, 50 / 80, 40 / 60]], np.float32)
  placed, content = next(iter(photographs.canvases(["a"], [path], 128, 8)))
  for number in range(8):
    boxes, visible = picture_views.boxes_in(box, picture_views.view("a", number))
    if not visible[0]:
      continue
    x1, y1, x2, y2 = (canvas.to_canvas(boxes, content[number])[0] * 128).numpy()
    bright = placed[number].numpy()[..., 0] > 200
    rows, columns = np.flatnonzero(bright.any(1)), np.flatnonzero(bright.any(0))
    found = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
    np.testing.assert_allclose(found, [x1, y1, x2, y2], atol=2.5)


def test_a_damaged_photograph_is_named(tmp_path):
  path = tmp_path / "bad.jpg"
  path.write_bytes(b"\xff\xd8\xff no picture")
  with pytest.raises(tf.errors.OpError, match=r"UserError: .*bad\.jpg"):
    list(photographs.canvases(["bad"], [path], 32))
