"""Photographs for a request: finds the files, checks them and encodes them."""

import io
import pathlib
from collections.abc import Iterable

from PIL import Image, ImageOps, UnidentifiedImageError

from gcap_tf import errors, files

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
SENT_AS_THEY_ARE = ("JPEG", "PNG")  # what `caption_image` reads
MOST_BYTES = 8 << 20  # a larger file is made smaller before it is sent
LONGEST_SIDE = 2048  # of a picture that is made smaller; models read far fewer pixels
QUALITY = 92


def find(named: Iterable[files.PathLike]) -> list[pathlib.Path]:
  """Returns the picture files of files and folders, in order; folders are not searched deeper."""
  found = []
  for name in named:
    path = pathlib.Path(name)
    if path.is_dir():
      inside = sorted(p for p in path.iterdir() if p.suffix.lower() in ENDINGS and p.is_file())
      if not inside:
        raise errors.UserError(f"{path} has no pictures ({', '.join(ENDINGS)})")
      found += inside
    elif path.is_file():
      found.append(path)
    else:
      raise errors.UserError(f"{path} does not exist; give a picture or a folder of pictures")
  return found


def read(path: files.PathLike) -> bytes:
  """Returns a picture as JPEG or PNG; a damaged file is a `UserError`."""
  data = pathlib.Path(path).read_bytes()
  return encode(data, str(path))


def encode(data: bytes, name: str = "the picture") -> bytes:
  """Returns a picture as JPEG or PNG of a sensible size; the pixels of a small one are kept."""
  picture = _open(data, name)
  if picture.format in SENT_AS_THEY_ARE and len(data) <= MOST_BYTES:
    return data
  picture = _upright(picture)
  picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
  encoded = io.BytesIO()
  picture.save(encoded, "JPEG", quality=QUALITY)
  return encoded.getvalue()


def upright(data: bytes, name: str = "the picture") -> Image.Image:
  """Returns a picture as people see it: turned as its EXIF orientation says, in RGB."""
  return _upright(_open(data, name))


def _open(data: bytes, name: str) -> Image.Image:
  try:
    picture = Image.open(io.BytesIO(data))
    picture.load()
  except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
    why = "it is not a picture" if isinstance(error, UnidentifiedImageError) else str(error)
    raise errors.UserError(f"{name} cannot be read: {why}") from None
  except Image.DecompressionBombError:
    raise errors.UserError(f"{name} has too many pixels; make it smaller") from None
  return picture


def _upright(picture: Image.Image) -> Image.Image:
  turned = ImageOps.exif_transpose(picture)
  if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
    turned = turned.convert("RGBA")
    white = Image.new("RGBA", turned.size, (255, 255, 255, 255))
    turned = Image.alpha_composite(white, turned)
  return turned.convert("RGB")
