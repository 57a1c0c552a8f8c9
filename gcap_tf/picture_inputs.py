"""What a person may give as a picture: a path, bytes, a PIL image or an array, as file bytes."""

import io
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gcap_tf import errors


class Given(NamedTuple):
  """Attributes:
  data: a picture file.
  image_id: its name without the ending, "" if it has none.
  error: why there is no file; "" if there is.
  """

  data: bytes
  image_id: str = ""
  error: str = ""


def is_several(pictures: Any) -> bool:
  """Whether a person gave several pictures: a list, a tuple, or another sequence of them."""
  return isinstance(pictures, Sequence) and not isinstance(pictures, (str, bytes, bytearray))


def read(picture: Any) -> Given:
  """A picture as the bytes of a file; a `UserError` if it is nothing of the kind."""
  if isinstance(picture, (str, pathlib.Path)):
    return _file(pathlib.Path(picture))
  if isinstance(picture, (bytes, bytearray)):
    return Given(bytes(picture))
  if isinstance(picture, np.ndarray):
    return Given(_png(_image(picture)))
  if hasattr(picture, "convert") and hasattr(picture, "save"):  # PIL.Image.Image
    from PIL import ImageOps

    return Given(_png(ImageOps.exif_transpose(picture)))
  raise errors.UserError(
    f"a picture is a path, bytes, a PIL image or an array [height, width, 3], not a "
    f"{type(picture).__name__}"
  )


def _file(path: pathlib.Path) -> Given:
  try:
    return Given(path.read_bytes(), path.stem)
  except OSError as error:
    return Given(b"", path.stem, f"{path}: cannot be read ({error.strerror or error})")


def _image(array: np.ndarray):
  from PIL import Image

  if array.ndim == 4:
    raise errors.UserError(
      f"an array of shape {array.shape} holds several pictures; give a list of them: list(array)"
    )
  if array.dtype != np.uint8:
    raise errors.UserError(
      f"an array of {array.dtype}: pictures are uint8 from 0 to 255; convert it with "
      "(255 * array).astype('uint8') if it goes from 0 to 1"
    )
  if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
    raise errors.UserError(f"an array of shape {array.shape}; expected [height, width, 3]")
  if not array.size:
    raise errors.UserError(f"an array of shape {array.shape} has no pixels")
  return Image.fromarray(array)


def _png(image) -> bytes:
  out = io.BytesIO()
  kept = image if image.mode in ("RGB", "RGBA", "L") else image.convert("RGB")
  kept.save(out, "PNG", compress_level=1)
  return out.getvalue()
