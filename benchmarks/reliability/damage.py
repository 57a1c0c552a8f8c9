"""Random damage of bytes and of the files of a folder, as disks and copies cause it."""

import pathlib
import random
from collections.abc import Callable

Damage = Callable[[bytes, random.Random], bytes]


def flip_bit(data: bytes, rng: random.Random) -> bytes:
  place = rng.randrange(len(data))
  return _put(data, place, bytes([data[place] ^ 1 << rng.randrange(8)]))


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
  changed = bytearray(data)
  for _ in range(rng.randint(2, 12)):
    changed[rng.randrange(len(data))] ^= rng.randrange(1, 256)
  return bytes(changed)


def zero_block(data: bytes, rng: random.Random) -> bytes:
  start, size = _block(data, rng)
  return _put(data, start, bytes(size))


def random_block(data: bytes, rng: random.Random) -> bytes:
  start, size = _block(data, rng)
  return _put(data, start, rng.randbytes(size))


def swap_blocks(data: bytes, rng: random.Random) -> bytes:
  """Exchanges two blocks of the same size: every byte is still there."""
  size = rng.randint(1, max(1, min(512, len(data) // 2)))
  first, second = (rng.randrange(len(data) - size + 1) for _ in range(2))
  kept = data[first : first + size], data[second : second + size]
  return _put(_put(data, first, kept[1]), second, kept[0])


def repeat_block(data: bytes, rng: random.Random) -> bytes:
  start, size = _block(data, rng)
  return data[: start + size] + data[start:]


def drop_block(data: bytes, rng: random.Random) -> bytes:
  start, size = _block(data, rng)
  return data[:start] + data[start + size :]


def cut(data: bytes, rng: random.Random) -> bytes:
  return data[: rng.randrange(len(data))]


def append(data: bytes, rng: random.Random) -> bytes:
  return data + rng.randbytes(rng.randint(1, 64))


DAMAGES: tuple[Damage, ...] = (
  *(flip_bit, flip_bytes, zero_block, random_block, swap_blocks, repeat_block, drop_block),
  *(cut, append),
)
_EXCHANGED, _MISSING = "exchanged", "missing"


def damaged(data: bytes, rng: random.Random) -> bytes:
  """The bytes after one damage; empty ones stay empty."""
  return rng.choice(DAMAGES)(data, rng) if data else data


class Folder:
  """A small folder in memory that can be damaged on disk and restored."""

  def __init__(self, path: pathlib.Path):
    self.path = path
    self._kept = {file: file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}

  def damage(self, rng: random.Random) -> str:
    """Damages one file; returns its name and how."""
    file = rng.choice(list(self._kept))
    data = self._kept[file]
    chosen = rng.choice([*DAMAGES, _EXCHANGED, _MISSING])
    if chosen == _MISSING:
      file.unlink()
      return f"{file.relative_to(self.path)}: {_MISSING}"
    if chosen == _EXCHANGED:
      others = [each for each in self._kept if each.suffix == file.suffix and each != file]
      changed = self._kept[rng.choice(others)] if others else b""
      name = _EXCHANGED
    else:
      changed, name = chosen(data, rng) if data else b"?", chosen.__name__
    file.write_bytes(changed)
    return f"{file.relative_to(self.path)}: {name}"

  def restore(self) -> None:
    """Gives every file its content again and removes others."""
    for file in self.path.rglob("*"):
      if file.is_file() and file not in self._kept:
        file.unlink()
    for file, data in self._kept.items():
      if not file.is_file() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _block(data: bytes, rng: random.Random) -> tuple[int, int]:
  start = rng.randrange(len(data))
  return start, min(len(data) - start, rng.randint(1, 512))


def _put(data: bytes, place: int, new: bytes) -> bytes:
  return data[:place] + new + data[place + len(new) :]
