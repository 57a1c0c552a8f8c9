"""Picture files to arrays: the one place that decodes.

JPEG (grey, CMYK), PNG (palette, 16 bits, alpha), the first frame of a GIF, still WebP, BMP. Alpha
is laid over white, EXIF orientation is applied. All of it is TensorFlow operations: Python,
`tf.data` and an exported graph give the same numbers. The pixel limit is checked on the header.
"""

import functools
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files
from gcap_tf.vision.formats import exif, headers

MAX_PIXELS = 64_000_000
MAX_BYTES = 256 * 2**20
_NO_WEBP = "a WebP, which is not decoded here: send JPEG, PNG, GIF or BMP"
ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp")


class Decoded(NamedTuple):
  """A picture, or why there is none.

  Attributes:
    image: uint8 [H, W, 3]; one black pixel if the file cannot be decoded.
    ok: bool.
    problem: string, "" if all is well.
  """

  image: tf.Tensor
  ok: tf.Tensor
  problem: tf.Tensor


@tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)])
def _check(data: tf.Tensor, max_pixels: tf.Tensor) -> headers.Header:
  header = headers.read(data)
  pixels = tf.cast(header.height, tf.int64) * tf.cast(header.width, tf.int64)
  sizes = [tf.strings.as_string(value) for value in (header.width, header.height, max_pixels)]
  large = tf.strings.join([sizes[0], " x ", sizes[1], " pixels, more than the limit of ", sizes[2]])
  too_large = (header.problem == "") & (pixels > tf.cast(max_pixels, tf.int64))
  return header._replace(problem=tf.where(too_large, large, header.problem))


def check(data: tf.Tensor, max_pixels: int = MAX_PIXELS) -> tf.Tensor:
  """What is wrong with a file by its header alone: a scalar string, "" if nothing."""
  return _check(data, max_pixels).problem


@tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)])
def _decode(data: tf.Tensor, max_pixels: tf.Tensor) -> tf.Tensor:
  header = _check(data, max_pixels)
  with tf.control_dependencies([tf.debugging.Assert(header.problem == "", [header.problem])]):
    data = tf.identity(data)
  return _pixels(data, header)


def decode(data: tf.Tensor, max_pixels: int = MAX_PIXELS) -> tf.Tensor:
  """Decodes a scalar string into uint8 [H, W, 3]; a damaged file fails the graph."""
  return _decode(data, max_pixels)


def _try_decode(data: tf.Tensor, max_pixels: tf.Tensor, webp: bool) -> Decoded:
  header = _check(data, max_pixels)
  if not webp:
    refused = (header.problem == "") & (header.kind == headers.WEBP)
    header = header._replace(problem=tf.where(refused, _NO_WEBP, header.problem))
  black = tf.zeros([1, 1, 3], tf.uint8)

  def decoded() -> tuple[tf.Tensor, tf.Tensor]:
    # A decoder's error cannot be caught in a graph, but a dataset can drop the failed element.
    pictures = tf.data.Dataset.from_tensors((data, header)).map(
      lambda data, header: (_pixels(data, header, webp), True)
    )
    fallback = tf.data.Dataset.from_tensors((black, False))
    return pictures.ignore_errors().concatenate(fallback).take(1).get_single_element()

  image, ok = tf.cond(header.problem == "", decoded, lambda: (black, False))
  image.set_shape([None, None, 3])
  kind = tf.gather(headers.NAMES, header.kind)
  damaged = tf.strings.join(["a ", kind, " that is cut short or damaged"])
  problem = tf.where(ok | (header.problem != ""), header.problem, damaged)
  return Decoded(image, ok, problem)


_SIGNATURE = [tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)]
_try_any = tf.function(functools.partial(_try_decode, webp=True), input_signature=_SIGNATURE)
_try_old = tf.function(functools.partial(_try_decode, webp=False), input_signature=_SIGNATURE)


def try_decode(data: tf.Tensor, max_pixels: int = MAX_PIXELS, webp: bool = True) -> Decoded:
  """Decodes a scalar string; a damaged file fails nothing but is reported.

  In a batch, map it over the files: a bad one has its own `problem`.

  Args:
    data: the file.
    max_pixels: a larger picture is refused.
    webp: False refuses WebP and leaves its operation out of the graph: programs with an older
      TensorFlow (2.18, say) cannot load a graph that has it.
  """
  return (_try_any if webp else _try_old)(data, max_pixels)


def _pixels(data: tf.Tensor, header: headers.Header, webp: bool = True) -> tf.Tensor:
  decoders = (
    lambda: tf.zeros([1, 1, 3], tf.uint8),
    lambda: tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE"),
    lambda: _over_white(tf.io.decode_png(data, channels=4)),
    lambda: tf.io.decode_gif(_first_frame(data, header.end))[0],
    lambda: _any_channels(tf.io.decode_webp(data)[0]) if webp else tf.zeros([1, 1, 3], tf.uint8),
    lambda: tf.io.decode_bmp(data)[:, :, :3],
  )
  image = tf.ensure_shape(tf.switch_case(header.kind, decoders), [None, None, 3])
  return exif.upright(image, header.orientation)


def _first_frame(data: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
  """A GIF without the frames that follow: they may be many, and each takes memory."""
  return tf.strings.join([tf.strings.substr(data, 0, end), b";"])


def _any_channels(image: tf.Tensor) -> tf.Tensor:
  return tf.cond(tf.shape(image)[2] == 4, lambda: _over_white(image), lambda: image)


def _over_white(image: tf.Tensor) -> tf.Tensor:
  """[H, W, 4] uint8 over a white ground: (c * a + 255 * (255 - a)) / 255, rounded."""
  colour, alpha = tf.cast(image[:, :, :3], tf.int32), tf.cast(image[:, :, 3:], tf.int32)
  mixed = tf.cast((colour * alpha + 255 * (255 - alpha) + 127) // 255, tf.uint8)
  opaque = tf.reduce_all(image[:, :, 3] == 255)
  return tf.cond(opaque, lambda: image[:, :, :3], lambda: mixed)


def read(path: files.PathLike, max_pixels: int = MAX_PIXELS) -> np.ndarray:
  """Decodes a file into uint8 [H, W, 3].

  Raises:
    UserError: one line that names the file.
  """
  return from_bytes(read_bytes(path), str(path), max_pixels)


def from_bytes(data: bytes, name: str, max_pixels: int = MAX_PIXELS) -> np.ndarray:
  """Decodes a picture file that is in memory; `name` is what errors call it."""
  found = try_decode(tf.constant(data), max_pixels)
  if not found.ok:
    raise errors.UserError(f"{name}: {found.problem.numpy().decode()}")
  return found.image.numpy()


def read_bytes(path: files.PathLike) -> bytes:
  """The bytes of a picture file; a `UserError` names a file that cannot be read."""
  path = pathlib.Path(path)
  try:
    size = path.stat().st_size
    if size > MAX_BYTES:
      raise errors.UserError(f"{path}: {size:,} bytes, more than the limit of {MAX_BYTES:,}")
    return path.read_bytes()
  except OSError as error:
    raise errors.UserError(f"{path}: cannot be read ({error.strerror or error})") from None


def find(where: files.PathLike | Sequence[files.PathLike]) -> Mapping[str, pathlib.Path]:
  """Picture files by their ids, which are the names without the ending; sorted by id.

  Args:
    where: a folder (its subfolders count as well), a file, or several of them.

  Raises:
    UserError: nothing is there, or two files have the same id.
  """
  places = [where] if isinstance(where, (str, pathlib.Path)) else list(where)
  found: dict[str, pathlib.Path] = {}
  for path in (path for place in places for path in _files(pathlib.Path(place))):
    other = found.setdefault(path.stem, path)
    if other != path:
      raise errors.UserError(
        f"{other} and {path} have the same id {path.stem}: rename one, or give another folder"
      )
  if not found:
    raise errors.UserError(
      f"{', '.join(map(str, places))}: no pictures there; looked for {', '.join(ENDINGS)}"
    )
  return dict(sorted(found.items()))


def _files(place: pathlib.Path) -> list[pathlib.Path]:
  if place.is_file():
    return [place]
  if not place.is_dir():
    raise errors.UserError(f"pictures {place} do not exist")
  inside = (path.relative_to(place) for path in place.rglob("*") if path.is_file())
  visible = (path for path in inside if not any(part.startswith(".") for part in path.parts))
  return [place / path for path in visible if path.suffix.lower() in ENDINGS]
