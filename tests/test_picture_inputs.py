import io

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors, picture_inputs
from tests.vision import picture_files


def pixels(given):
  return np.asarray(Image.open(io.BytesIO(given.data)))


def test_a_path_is_read_and_named(tmp_path):
  data = picture_files.samples()["jpeg"]
  (tmp_path / "dog.jpg").write_bytes(data)
  for path in (tmp_path / "dog.jpg", str(tmp_path / "dog.jpg")):
    assert picture_inputs.read(path) == (data, "dog", "")
  missing = picture_inputs.read(tmp_path / "cat.jpg")
  assert missing.data == b"" and "cat.jpg: cannot be read (No such file" in missing.error


def test_bytes_images_and_arrays_keep_their_pixels():
  image = picture_files.photograph()
  array = np.asarray(image)
  assert picture_inputs.read(b"abc").data == b"abc"
  np.testing.assert_array_equal(pixels(picture_inputs.read(image)), array)
  np.testing.assert_array_equal(pixels(picture_inputs.read(array)), array)
  np.testing.assert_array_equal(pixels(picture_inputs.read(array[..., 0])), array[..., 0])


def test_an_image_is_turned_as_its_camera_says():
  turned = Image.open(io.BytesIO(picture_files.turned(6)))
  assert turned.size == (48, 32)
  assert pixels(picture_inputs.read(turned)).shape == (48, 32, 3)


def test_what_is_no_picture_is_refused_with_the_fix():
  picture = np.zeros([4, 4, 3], np.uint8)
  for wrong, message in (
    (picture[None], r"list\(array\)"),
    (picture.astype(np.float32), "uint8 from 0 to 255"),
    (picture[..., :2], r"expected \[height, width, 3\]"),
    (picture[:0], "no pixels"),
    (3, "not a int"),
  ):
    with pytest.raises(errors.UserError, match=message):
      picture_inputs.read(wrong)


def test_lists_are_several_pictures_and_names_are_one():
  assert picture_inputs.is_several(["a.jpg"]) and picture_inputs.is_several((b"",))
  assert not picture_inputs.is_several("a.jpg") and not picture_inputs.is_several(b"abc")
  assert not picture_inputs.is_several(np.zeros([2, 2, 3]))
