import io
import time

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageOps

from gcap_tf import errors
from gcap_tf.vision import pictures
from tests.vision import picture_files

SAMPLES = picture_files.samples()


def _as_pillow(data: bytes) -> np.ndarray:
  picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
  if "A" in picture.mode:
    picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
  return np.asarray(picture.convert("RGB")).astype(int)


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"deep"}))
def test_every_kind_is_decoded_as_pillow_does(name):
  found = pictures.decode(SAMPLES[name]).numpy().astype(int)
  assert np.abs(found - _as_pillow(SAMPLES[name])).max() <= (4 if name == "cmyk" else 1)


def test_sixteen_bits_keep_their_upper_eight():
  values = np.asarray(Image.open(io.BytesIO(SAMPLES["deep"]))).astype(int)
  expected = np.repeat((values // 256)[:, :, None], 3, 2)
  np.testing.assert_array_equal(pictures.decode(SAMPLES["deep"]), expected)


def test_python_tf_data_and_an_exported_graph_give_the_same_numbers(tmp_path):
  module = tf.Module()
  module.decode = tf.function(
    lambda data: pictures.try_decode(data)[0], input_signature=[tf.TensorSpec([], tf.string)]
  )
  tf.saved_model.save(module, str(tmp_path))
  exported = tf.saved_model.load(str(tmp_path)).decode
  dataset = tf.data.Dataset.from_tensor_slices(list(SAMPLES.values())).map(pictures.decode)
  for data, mapped in zip(SAMPLES.values(), dataset, strict=True):
    expected = pictures.from_bytes(data, "picture")
    np.testing.assert_array_equal(mapped, expected)
    np.testing.assert_array_equal(exported(data), expected)


def test_a_bad_picture_in_a_batch_has_its_own_problem():
  files = [SAMPLES["jpeg"], SAMPLES["jpeg"][:600], b"hello", SAMPLES["png"]]

  def sides(data):
    found = pictures.try_decode(data)
    return tf.shape(found.image)[:2], found.ok, found.problem

  types = (tf.int32, tf.bool, tf.string)
  sizes, ok, problems = tf.map_fn(sides, tf.constant(files), fn_output_signature=types)
  assert ok.numpy().tolist() == [True, False, False, True]
  assert sizes.numpy().tolist() == [[32, 48], [1, 1], [1, 1], [32, 48]]
  assert problems[1] == b"a JPEG that is cut short or damaged"
  assert problems[2].numpy().startswith(b"not a picture")


def test_two_hundred_damaged_pictures_decode_or_are_named(tmp_path):
  refused = 0
  for name, data in picture_files.damaged(200).items():
    path = tmp_path / name
    path.write_bytes(data)
    try:
      image = pictures.read(path)
    except errors.UserError as error:
      refused += 1
      assert str(path) in str(error) and "\n" not in str(error)
    else:
      assert image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
  assert 100 < refused < 200  # Cut files at least; flipped bytes are often decoded.


def test_a_bomb_is_refused_by_its_header():
  data = picture_files.bomb(10_000, 10_000)
  pictures.check(data)  # Traced before the clock starts.
  start = time.perf_counter()
  found = pictures.try_decode(data)
  seconds = time.perf_counter() - start
  assert b"10000 x 10000 pixels" in found.problem.numpy()
  assert seconds < 0.5  # Decoding 100 million pixels takes longer.


def test_decode_fails_with_the_problem():
  with pytest.raises(tf.errors.InvalidArgumentError, match="not a picture"):
    pictures.decode(b"hello")


def test_a_folder_is_listed_by_id(tmp_path):
  (tmp_path / "more").mkdir()
  for name in ("b.JPG", "a.png", "more/c.webp", "notes.txt", ".hidden.jpg"):
    (tmp_path / name).write_bytes(b"")
  assert list(pictures.find(tmp_path)) == ["a", "b", "c"]
  assert list(pictures.find([tmp_path / "b.JPG"])) == ["b"]


def test_two_files_of_one_id_are_an_error(tmp_path):
  for name in ("a.png", "a.jpg"):
    (tmp_path / name).write_bytes(b"")
  with pytest.raises(errors.UserError, match="same id a"):
    pictures.find(tmp_path)


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_folder_without_pictures_is_an_error(tmp_path, name):
  with pytest.raises(errors.UserError, match=r"no pictures there|do not exist"):
    pictures.find(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"none\.jpg: cannot be read"):
    pictures.read_bytes(tmp_path / "none.jpg")
