"""Picture files made in memory: every kind that is decoded, and damaged ones."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

ORIENTATION = 0x0112


def photograph(width: int = 48, height: int = 32) -> Image.Image:
  """A smooth picture whose corners differ, so that every turn of it is another picture."""
  y, x = np.mgrid[:height, :width]
  channels = (x * 255 / width, y * 255 / height, 255 - (x + y) * 255 / (width + height))
  return Image.fromarray(np.stack(channels, -1).astype(np.uint8))


def encoded(picture: Image.Image, kind: str, **options) -> bytes:
  out = io.BytesIO()
  picture.save(out, kind, **options)
  return out.getvalue()


def turned(orientation: int, kind: str = "JPEG", **options) -> bytes:
  """The photograph with an EXIF orientation."""
  exif = Image.Exif()
  exif[ORIENTATION] = orientation
  return encoded(photograph(), kind, exif=exif, **options)


def with_alpha() -> Image.Image:
  """Opaque on the left, clear on the right."""
  picture = photograph().convert("RGBA")
  alpha = np.tile(np.linspace(255, 0, picture.width).astype(np.uint8), (picture.height, 1))
  picture.putalpha(Image.fromarray(alpha))
  return picture


def samples() -> dict[str, bytes]:
  """One file of every kind."""
  picture = photograph()
  deep = Image.fromarray((np.arange(32 * 48).reshape(32, 48) * 40).astype(np.uint16))
  return {
    "jpeg": encoded(picture, "JPEG", quality=90),
    "progressive": encoded(picture, "JPEG", progressive=True),
    "grey_jpeg": encoded(picture.convert("L"), "JPEG"),
    "cmyk": encoded(picture.convert("CMYK"), "JPEG"),
    "turned": turned(6),
    "png": encoded(picture, "PNG"),
    "grey_png": encoded(picture.convert("L"), "PNG"),
    "palette": encoded(picture.convert("P"), "PNG"),
    "deep": encoded(deep, "PNG"),
    "alpha": encoded(with_alpha(), "PNG"),
    "gif": encoded(picture, "GIF"),
    "moving_gif": encoded(picture, "GIF", save_all=True, append_images=[picture.rotate(180)] * 3),
    "webp": encoded(picture, "WEBP"),
    "lossless_webp": encoded(picture, "WEBP", lossless=True),
    "alpha_webp": encoded(with_alpha(), "WEBP", lossless=True),
    "bmp": encoded(picture, "BMP"),
  }


def bomb(width: int, height: int) -> bytes:
  """A whole PNG of few bytes and many pixels."""

  def chunk(name: bytes, content: bytes) -> bytes:
    return (
      struct.pack(">I", len(content))
      + name
      + content
      + struct.pack(">I", zlib.crc32(name + content))
    )

  packer = zlib.compressobj(1)
  row = bytes(1 + width // 8)
  pixels = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
  header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
  return (
    b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
  )


def damaged(count: int, seed: int = 0) -> dict[str, bytes]:
  """`count` damaged files: cut, with flipped bytes, with a wrong ending, bombs."""
  generator = np.random.default_rng(seed)
  whole = samples()
  endings = {"jpeg": "png", "png": "jpg", "gif": "webp", "webp": "gif", "bmp": "jpg"}
  made = {"empty.jpg": b"", "text.png": b"hello\n", "bomb.png": bomb(10_000, 10_000)}
  names = sorted(whole)
  while len(made) < count:
    name = names[len(made) % len(names)]
    data, number = bytearray(whole[name]), len(made)
    ending = endings.get(name, "jpg")
    if number % 2:
      made[f"cut{number}.{ending}"] = bytes(data[: generator.integers(1, len(data))])
      continue
    for place in generator.integers(0, len(data), generator.integers(1, 20)):
      data[place] = generator.integers(256)
    made[f"flipped{number}.{ending}"] = bytes(data)
  return made
