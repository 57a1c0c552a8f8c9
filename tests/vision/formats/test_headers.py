import io

import pytest
import tensorflow as tf
from PIL import Image

from gcap_tf.vision.formats import headers
from tests.vision import picture_files

SAMPLES = picture_files.samples()
_read = tf.function(headers.read, input_signature=[tf.TensorSpec([], tf.string)])


@pytest.mark.parametrize("name", SAMPLES)
def test_the_size_is_read_without_decoding(name):
  picture = Image.open(io.BytesIO(SAMPLES[name]))
  header = _read(SAMPLES[name])
  assert (int(header.width), int(header.height)) == picture.size
  assert headers.NAMES[header.kind].upper() == picture.format
  assert header.problem == b""


def test_the_orientation_of_a_phone_is_found():
  assert _read(SAMPLES["turned"]).orientation == 6
  assert _read(SAMPLES["jpeg"]).orientation == 1


def test_the_end_of_the_first_frame_of_a_gif():
  still, moving = _read(SAMPLES["gif"]), _read(SAMPLES["moving_gif"])
  assert still.end == len(SAMPLES["gif"]) - 1  # All but the last byte, the trailer.
  assert int(moving.end) < len(SAMPLES["moving_gif"]) * 0.6


def test_a_gif_whose_frame_is_larger_than_its_screen_counts_the_frame():
  data = bytearray(SAMPLES["gif"])
  data[6:10] = bytes([1, 0, 1, 0])
  assert (int(_read(bytes(data)).width), int(_read(bytes(data)).height)) == (48, 32)


def test_an_animated_webp_is_refused():
  picture = picture_files.photograph()
  data = picture_files.encoded(
    picture, "WEBP", save_all=True, append_images=[picture.rotate(90)] * 2
  )
  assert b"animated" in _read(data).problem.numpy()


def test_a_bmp_of_256_colours_is_refused():
  data = picture_files.encoded(picture_files.photograph().convert("P"), "BMP")
  assert b"BMP" in _read(data).problem.numpy()


@pytest.mark.parametrize("data", [b"", b"\xff", b"\xff\xd8\xff", b"GIF89a", b"RIFF....WEBP", b"BM"])
def test_a_file_that_ends_in_its_header_has_a_problem(data):
  assert _read(data).problem != b""
