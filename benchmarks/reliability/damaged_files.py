"""Damaged picture files: cut, flipped, of another kind, no pictures at all, and bombs."""

import io
import pathlib
import zipfile

import numpy as np
from PIL import Image

KINDS = {"jpg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WEBP", "bmp": "BMP"}
# Offsets of width and height in the header, with their byte order.
_SIDES = {"png": (16, 4, "big"), "gif": (6, 2, "little"), "bmp": (18, 4, "little")}
_HUGE = 60_000


def photograph(rng: np.random.Generator) -> Image.Image:
  """A smooth picture with some noise."""
  y, x = np.mgrid[:96, :128]
  slopes = rng.uniform(-1, 1, (2, 3))
  values = 128 + x[..., None] * slopes[0] + y[..., None] * slopes[1]
  values += rng.normal(size=values.shape) * 8
  return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def photographs(count: int, seed: int) -> list[bytes]:
  """Whole JPEG files."""
  rng, files = np.random.default_rng(seed), []
  for _ in range(count):
    file = io.BytesIO()
    photograph(rng).save(file, "JPEG")
    files.append(file.getvalue())
  return files


def damaged(folder: pathlib.Path, count: int, seed: int) -> dict[str, str]:
  """Writes files; returns {name: kind of damage}."""
  rng = np.random.default_rng(seed)
  damages = (cut, flip, flip_header, exchange_ending, no_picture, bomb)
  written = {}
  for number in range(count):
    damage, ending = damages[number % len(damages)], rng.choice(list(KINDS))
    path = folder / f"{number:04}.{ending}"
    photograph(rng).save(path, KINDS[ending])
    path = damage(path, rng)
    written[path.name] = damage.__name__
  return written


def cut(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  """Keeps the beginning of a file, nothing at worst."""
  data = path.read_bytes()
  path.write_bytes(data[: rng.integers(0, len(data))])
  return path


def flip(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  return _flip(path, rng, 0, None)


def flip_header(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  return _flip(path, rng, 0, 64)


def exchange_ending(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  """A cut file under the ending of another kind."""
  other = rng.choice([ending for ending in KINDS if f".{ending}" != path.suffix])
  return cut(path, rng).rename(path.with_suffix(f".{other}"))


def no_picture(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  """Text, random bytes, or an archive."""
  choice = rng.integers(3)
  if choice == 0:
    path.write_text("this is not a picture\n" * 20)
  elif choice == 1:
    path.write_bytes(rng.bytes(4096))
  else:
    with zipfile.ZipFile(path, "w") as archive:
      archive.writestr("picture.jpg", rng.bytes(256))
  return path


def bomb(path: pathlib.Path, rng: np.random.Generator) -> pathlib.Path:
  """A small file whose header claims billions of pixels."""
  del rng
  data = bytearray(path.read_bytes())
  kind = path.suffix[1:]
  if kind in _SIDES:
    start, size, order = _SIDES[kind]
    for side in range(2):
      data[start + side * size : start + (side + 1) * size] = _HUGE.to_bytes(size, order)
  elif kind == "jpg":
    frame = data.index(b"\xff\xc0") + 5
    data[frame : frame + 4] = _HUGE.to_bytes(2, "big") * 2
  else:  # VP8: 14 bits for each side.
    data[26:30] = (0x3FFF).to_bytes(2, "little") * 2
  path.write_bytes(data)
  return path


def _flip(path, rng, start, end) -> pathlib.Path:
  data = bytearray(path.read_bytes())
  places = range(len(data))[start:end]
  for place in rng.choice(places, size=min(12, len(places)), replace=False):
    data[place] ^= int(rng.integers(1, 256))
  path.write_bytes(data)
  return path
