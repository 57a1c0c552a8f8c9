"""Bottom-up region features as tab separated text.

Anderson et al., Bottom-Up and Top-Down Attention, CVPR 2018, arXiv:1707.07998. A line is

    image_id  image_w  image_h  num_boxes  boxes  features

Boxes and features are base64 of float32, [num_boxes, 4] in pixels and
[num_boxes, D]. Files are tens of gigabytes, so lines are found through an index of
their offsets, made in one pass and kept next to the file if its folder can be written.
"""

import base64
import binascii
import functools
import json
import pathlib
from collections.abc import Iterator, Sequence

import numpy as np
from absl import logging

from gcap_tf import errors, files
from gcap_tf import progress as progress_bars
from gcap_tf.data import records
from gcap_tf.data.stores import region_store

FIELDS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
INDEX_SUFFIX = ".index.json"
_READ_AHEAD = 1 << 20


class BottomUpStore(region_store.RegionStore):
  """One TSV file, or a folder of `*.tsv` and `*.tsv.N` files read as one."""

  def __init__(self, path: files.PathLike):
    super().__init__(path)
    self.files = tsv_files(self.path)
    if not self.files:
      raise errors.UserError(f"{path}: no .tsv file there")
    self._last: tuple[str, dict[str, bytes]] | None = None

  def ids(self) -> Sequence[str]:
    return list(self._entries)

  def size(self, image_id: str) -> tuple[int, int]:
    fields = self._fields(image_id)
    return tuple(_whole(fields, name, self.where(image_id)) for name in ("image_w", "image_h"))

  def where(self, image_id: str) -> str:
    file, offset = self._entries[image_id]
    return f"{self.files[file]}, byte {offset}, picture {image_id}"

  def _read(self, image_id: str) -> records.Regions:
    where, fields = self.where(image_id), self._fields(image_id)
    count = _whole(fields, "num_boxes", where)
    return records.Regions(
      boxes_px=_floats(fields, "boxes", count, where),
      features=_floats(fields, "features", count, where),
    )

  @functools.cached_property
  def _entries(self) -> dict[str, tuple[int, int]]:
    """Picture -> (file, offset of its line); of a picture listed twice the first."""
    entries: dict[str, tuple[int, int]] = {}
    repeated = 0
    for number, path in enumerate(self.files):
      for image_id, offset in read_index(path):
        repeated += image_id in entries
        entries.setdefault(image_id, (number, offset))
    if repeated:
      logging.warning("%s: %d pictures are listed twice; the first counts", self.path, repeated)
    return entries

  def _fields(self, image_id: str) -> dict[str, bytes]:
    if self._last is None or self._last[0] != image_id:
      file, offset = self._entries[image_id]
      with open(self.files[file], "rb") as lines:
        lines.seek(offset)
        values = lines.readline().rstrip(b"\r\n").split(b"\t")
      if len(values) != len(FIELDS):
        raise errors.UserError(
          f"{self.where(image_id)}: {len(values)} fields; expected {len(FIELDS)} "
          f"({', '.join(FIELDS)}): was the file cut short?"
        )
      self._last = image_id, dict(zip(FIELDS, values, strict=True))
    return self._last[1]


def tsv_files(path: pathlib.Path) -> list[pathlib.Path]:
  """The TSV files that `path` is or holds, in order."""
  if path.is_dir():
    return sorted(
      file for file in path.iterdir() if ".tsv" in file.suffixes and file.suffix != ".json"
    )
  return [path] if path.is_file() and ".tsv" in path.suffixes else []


def read_index(path: pathlib.Path) -> list[tuple[str, int]]:
  """(picture, offset of its line) of a TSV file, from the index next to it if it is current."""
  sidecar = path.with_name(path.name + INDEX_SUFFIX)
  status = path.stat()
  stamp = {"bytes": status.st_size, "changed": status.st_mtime_ns}
  try:
    saved = json.loads(sidecar.read_text(encoding="utf-8"))
    if saved["of"] == stamp:
      return [(str(image_id), abs(int(offset))) for image_id, offset in saved["lines"]]
  except (OSError, ValueError, KeyError, TypeError):
    logging.info("%s: no usable index next to it; reading the whole file", path)
  lines = list(_scan(path, status.st_size))
  try:
    files.write_json(sidecar, {"of": stamp, "lines": lines}, indent=None)
  except OSError:
    logging.info("%s: the index cannot be kept there; it is made at each start", sidecar)
  return lines


def _scan(path: pathlib.Path, size: int) -> Iterator[tuple[str, int]]:
  with (
    open(path, "rb", buffering=_READ_AHEAD) as lines,
    progress_bars.bar(label=f"Indexing {path.name}", total=size, unit="B") as bar,
  ):
    offset = 0
    for number, line in enumerate(lines, 1):
      tab = line.find(b"\t")
      image_id = line[: max(tab, 0)].decode("utf-8", "replace").strip()
      if image_id and not (number == 1 and image_id == FIELDS[0]):
        yield image_id, offset
      elif not image_id and line.strip():
        raise errors.UserError(
          f"{path}, line {number}: no picture id; expected tab separated {', '.join(FIELDS)}"
        )
      offset += len(line)
      bar.update(len(line))


def _whole(fields: dict[str, bytes], name: str, where: str) -> int:
  text = fields[name].decode("utf-8", "replace").strip()
  if not text.isdecimal() or len(text) > 9:
    raise errors.UserError(f"{where}: {name} is {text[:20]!r}; expected a whole number")
  return int(text)


def _floats(fields: dict[str, bytes], name: str, count: int, where: str) -> np.ndarray:
  """[count, -1] float32 from base64."""
  try:
    data = base64.b64decode(fields[name], validate=True)
  except binascii.Error as error:
    raise errors.UserError(
      f"{where}: {name} is not whole base64 ({error}); was the file cut short?"
    ) from None
  columns, odd = divmod(len(data), 4 * max(count, 1))
  if odd or (name == "boxes" and columns != 4 * bool(count)):
    raise errors.UserError(
      f"{where}: {len(data):,} bytes of {name} for {count} boxes; expected "
      f"{'16' if name == 'boxes' else 'a multiple of 4'} a box: was the file cut short?"
    )
  return np.frombuffer(data, "<f4").reshape(count, columns).astype(np.float32)
