"""What the first bytes of a picture file say: its kind, size and orientation, in the graph.

Nothing is decoded here, so a picture that is too large is refused before memory is spent.
"""

from typing import NamedTuple

import tensorflow as tf

from gcap_tf.vision.formats import byte_fields, exif

UNKNOWN, JPEG, PNG, GIF, WEBP, BMP = range(6)
NAMES = ("file", "JPEG", "PNG", "GIF", "WebP", "BMP")
_MOST_SEGMENTS = 1000  # of a JPEG before its picture, chunks of a PNG or WebP, blocks of a GIF


class Header(NamedTuple):
  """Scalars of one file.

  Attributes:
    kind: int32, JPEG, ...; UNKNOWN if it is none of them.
    height, width: int32, as stored, before the picture is turned; 0 if the file does not say.
    orientation: int32, from 1 to 8; see `exif`.
    end: int32, GIF: bytes up to the end of its first frame; else bytes of the file.
    problem: string, "" if nothing is wrong so far.
  """

  kind: tf.Tensor
  height: tf.Tensor
  width: tf.Tensor
  orientation: tf.Tensor
  end: tf.Tensor
  problem: tf.Tensor


def read(data: tf.Tensor) -> Header:
  """The header of a scalar string that holds a picture file."""
  raw = byte_fields.raw_bytes(data)
  kind = _kind(byte_fields.take(raw, 0, 12))
  readers = (_unknown, _jpeg, _png, _gif, _webp, _bmp)
  fields = tf.switch_case(kind, [lambda reader=reader: reader(raw) for reader in readers])
  height, width, start, end, problem = fields
  unsized = (problem == "") & ((height <= 0) | (width <= 0))
  problem = tf.where(unsized, "the size of the picture is missing: the file is damaged", problem)
  problem = tf.where(tf.size(raw) == 1, "the file is empty", problem)
  return Header(kind, height, width, exif.orientation(raw, start), end, problem)


def _kind(first: tf.Tensor) -> tf.Tensor:
  def starts(expected: bytes, at: int = 0) -> tf.Tensor:
    return byte_fields.equal(first[at : at + len(expected)], expected)

  tests = (
    (JPEG, starts(b"\xff\xd8\xff")),
    (PNG, starts(b"\x89PNG\r\n\x1a\n")),
    (GIF, starts(b"GIF87a") | starts(b"GIF89a")),
    (WEBP, starts(b"RIFF") & starts(b"WEBP", 8)),
    (BMP, starts(b"BM")),
  )
  return tf.add_n([tf.where(found, kind, UNKNOWN) for kind, found in tests])


def _fields(height, width, exif_start, end, problem) -> tuple[tf.Tensor, ...]:
  numbers = (tf.convert_to_tensor(value, tf.int32) for value in (height, width, exif_start, end))
  return *numbers, tf.convert_to_tensor(problem, tf.string)


def _unknown(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  problem = "not a picture that can be read: expected JPEG, PNG, GIF, WebP or BMP"
  return _fields(0, 0, 0, tf.size(raw) - 1, problem)


def _jpeg(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  """Walks the segments `FF marker length content` up to the frame header (SOF)."""

  def goes_on(position, height, width, start, going):
    del height, width, start
    return going & (position < tf.size(raw) - 1)

  def segment(position, height, width, start, going):
    del going
    found = byte_fields.take(raw, position, 10)
    marker, length = found[1], byte_fields.big_endian(found[2:4])
    fill = marker == 0xFF  # A marker may stand after any number of FF.
    alone = (marker == 0x01) | ((marker >= 0xD0) & (marker <= 0xD8))
    frame = (
      (marker >= 0xC0) & (marker <= 0xCF) & (marker != 0xC4) & (marker != 0xC8) & (marker != 0xCC)
    )
    last = frame | (marker == 0xD9) | (marker == 0xDA) | (found[0] != 0xFF) | (length < 2)
    camera = (marker == 0xE1) & byte_fields.equal(found[4:10], b"Exif\0\0") & (start == 0)
    return (
      position + tf.where(fill, 1, tf.where(alone, 2, 2 + length)),
      tf.where(frame, byte_fields.big_endian(found[5:7]), height),
      tf.where(frame, byte_fields.big_endian(found[7:9]), width),
      tf.where(camera, position + 10, start),
      fill | alone | ~last,
    )

  # At the frame header found[7:9] has the width: FF C0 length(2) precision(1) height(2) width(2).
  state = (tf.constant(2), tf.constant(0), tf.constant(0), tf.constant(0), tf.constant(True))
  _, height, width, start, _ = tf.while_loop(
    goes_on, segment, state, maximum_iterations=_MOST_SEGMENTS
  )
  return _fields(height, width, start, tf.size(raw) - 1, "")


def _png(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  """IHDR stands first; chunks are `length(4) type(4) content crc(4)`."""
  size = byte_fields.take(raw, 12, 12)
  whole = byte_fields.equal(size[:4], b"IHDR")

  def goes_on(position, start, going):
    del start
    return going & (position < tf.size(raw) - 1)

  def chunk(position, start, going):
    del going
    found = byte_fields.take(raw, position, 8)
    camera = byte_fields.equal(found[4:8], b"eXIf")
    pixels = byte_fields.equal(found[4:8], b"IDAT")
    after = tf.minimum(byte_fields.big_endian(found[:4]), tf.size(raw)) + 12
    return position + after, tf.where(camera, position + 8, start), ~(camera | pixels)

  state = (tf.constant(8), tf.constant(0), tf.constant(True))
  start = tf.while_loop(goes_on, chunk, state, maximum_iterations=_MOST_SEGMENTS)[1]
  problem = tf.where(whole, "", "a damaged PNG: its first chunk is not IHDR")
  width, height = byte_fields.big_endian(size[4:8]), byte_fields.big_endian(size[8:12])
  return _fields(height, width, start, tf.size(raw) - 1, problem)


def _gif(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  """Walks the blocks up to the end of the first frame, the only one that is decoded."""
  screen = byte_fields.take(raw, 6, 5)

  def table(flags: tf.Tensor) -> tf.Tensor:
    return tf.where(flags >= 0x80, 3 * tf.bitwise.left_shift(2, flags % 8), 0)

  def end_of_blocks(position: tf.Tensor) -> tf.Tensor:
    """Past a row of `size content`, which a size of 0 ends."""

    def skip(position):
      return (position + 1 + byte_fields.take(raw, position, 1)[0],)

    found = tf.while_loop(
      lambda position: byte_fields.take(raw, position, 1)[0] > 0, skip, (position,)
    )
    return found[0] + 1

  def goes_on(position, height, width, going):
    del height, width
    return going & (position < tf.size(raw) - 1)

  def block(position, height, width, going):
    del going
    found = byte_fields.take(raw, position, 10)
    frame, extension = found[0] == 0x2C, found[0] == 0x21
    content = position + tf.where(frame, 11 + table(found[9]), 2)
    after = tf.cond(frame | extension, lambda: end_of_blocks(content), lambda: position)
    return (
      after,
      tf.where(frame, byte_fields.little_endian(found[7:9]), height),
      tf.where(frame, byte_fields.little_endian(found[5:7]), width),
      extension,
    )

  start = 13 + table(screen[4])
  state = (start, tf.constant(0), tf.constant(0), tf.constant(True))
  end, height, width, _ = tf.while_loop(goes_on, block, state, maximum_iterations=_MOST_SEGMENTS)
  problem = tf.where(end > tf.size(raw) - 1, "a GIF that is cut short", "")
  height = tf.where(height > 0, tf.maximum(height, byte_fields.little_endian(screen[2:4])), 0)
  width = tf.where(width > 0, tf.maximum(width, byte_fields.little_endian(screen[:2])), 0)
  return _fields(height, width, 0, end, problem)


def _webp(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  """The size is in the first chunk: VP8 (lossy), VP8L (lossless) or VP8X (extended)."""
  first = byte_fields.take(raw, 12, 18)
  lossy, lossless, extended = (
    byte_fields.equal(first[:4], name) for name in (b"VP8 ", b"VP8L", b"VP8X")
  )
  packed = byte_fields.little_endian(first[9:12]), first[12]  # 14 bits each, after a byte 2F
  widths = (
    tf.where(lossy, byte_fields.little_endian(first[14:16]) % 2**14, 0),
    tf.where(lossless, 1 + packed[0] % 2**14, 0),
    tf.where(extended, 1 + byte_fields.little_endian(first[12:15]), 0),
  )
  heights = (
    tf.where(lossy, byte_fields.little_endian(first[16:18]) % 2**14, 0),
    tf.where(lossless, 1 + (packed[0] // 2**14 + packed[1] % 16 * 2**10), 0),
    tf.where(extended, 1 + byte_fields.little_endian(first[15:18]), 0),
  )

  def goes_on(position, start):
    return extended & (start == 0) & (position < tf.size(raw) - 1)

  def chunk(position, start):
    found = byte_fields.take(raw, position, 14)
    camera = byte_fields.equal(found[:4], b"EXIF")
    tiff = position + tf.where(byte_fields.equal(found[8:14], b"Exif\0\0"), 14, 8)
    length = tf.minimum(byte_fields.little_endian(found[4:8]), tf.size(raw))
    return position + 8 + length + length % 2, tf.where(camera, tiff, start)

  state = (tf.constant(12), tf.constant(0))
  start = tf.while_loop(goes_on, chunk, state, maximum_iterations=_MOST_SEGMENTS)[1]
  # TensorFlow 2.21 writes past its buffer when it decodes an animation without alpha.
  moving = extended & (first[8] // 2 % 2 == 1)
  problem = tf.where(moving, "an animated WebP, which cannot be read: save one frame of it", "")
  return _fields(tf.add_n(heights), tf.add_n(widths), start, tf.size(raw) - 1, problem)


def _bmp(raw: tf.Tensor) -> tuple[tf.Tensor, ...]:
  found = byte_fields.take(raw, 14, 20)
  width, height = byte_fields.little_endian(found[4:8]), byte_fields.little_endian(found[8:12])
  # A negative height means rows from the top; it reads as a number near 2**32.
  top = byte_fields.little_endian(255 - found[8:12]) + 1
  height = tf.where(found[11] >= 0x80, top, height)
  depth, compression = byte_fields.little_endian(found[14:16]), found[16]
  plain = ((depth == 24) | (depth == 32)) & (compression == 0)
  problem = tf.where(plain, "", "a BMP that is not of 24 or 32 bits without compression")
  return _fields(height, width, 0, tf.size(raw) - 1, problem)
