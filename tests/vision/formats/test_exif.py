import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageOps

from gcap_tf.vision import pictures
from gcap_tf.vision.formats import byte_fields, exif
from tests.vision import picture_files


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_that_of_pillow(orientation):
  data = picture_files.turned(orientation, "PNG")
  expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
  np.testing.assert_array_equal(pictures.decode(data), expected)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_other_kinds_are_turned_as_well(kind):
  assert pictures.decode(picture_files.turned(6, kind)).shape == (48, 32, 3)


@pytest.mark.parametrize("block", [b"", b"II*\0", b"XX*\0\x08\0\0\0", b"MM\0*\xff\xff\xff\xff"])
def test_a_broken_block_means_as_it_is(block):
  raw = byte_fields.raw_bytes(tf.constant(b"...." + block))
  assert exif.orientation(raw, tf.constant(4)) == 1


def test_big_endian_blocks_are_read():
  entry = bytes([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0])
  raw = byte_fields.raw_bytes(tf.constant(b"...." + b"MM\0*\0\0\0\x08\0\x01" + entry))
  assert exif.orientation(raw, tf.constant(4)) == 8
