"""Reads captions from social media: one per picture, emoji kept (InstaPIC-1.1M).

Park et al., Attend to You, CVPR 2017, arXiv:1704.06485, and the preprocessing of Dai and
Lin, NIPS 2017, arXiv:1710.02534. The dataset is no longer distributed, so this reads any
captions, one file per split:

    train.jsonl    {"picture": "a.jpg", "caption": "..."}, one object per line
    train.tsv      a.jpg<TAB>caption, one per line; also .txt
"""

import functools
import json
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from absl import logging

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.readers import emoji_words, reader
from gcap_tf.text import object_words

_FILE = re.compile(r"(.*[-_.])?(?P<split>train|val|test)\.(jsonl|tsv|txt)")
_PICTURE_KEYS = ("picture", "image", "image_id", "id")


class _Line(NamedTuple):
  picture: str
  text: str
  tokens: tuple[str, ...]


class InstaPIC(reader.Reader):
  """A folder of caption files, `train`, `val` and `test`, or one such file."""

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
    pictures: files.PathLike | None = None,
  ):
    """Looks at the source.

    Args:
      source: the folder, or a file of one split.
      classes: not used, no boxes are annotated.
      merge: likewise.
      pictures: folder of the picture files; by default the source's own.
    """
    super().__init__(source, classes, merge)
    path = pathlib.Path(source)
    self.files = _caption_files(path)
    self.pictures = pathlib.Path(pictures or (path if path.is_dir() else path.parent))

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(self.files)

  def image_ids(self, split: str) -> Sequence[str]:
    return list(self._split(split))

  def record(self, image_id: str, split: str) -> records.Record:
    line = self._split(split)[image_id]
    path = self.pictures / line.picture
    width, height = source_files.picture_size(path) if path.is_file() else (0, 0)
    return records.Record(
      image_id=image_id,
      split=split,
      width=width,
      height=height,
      captions=(records.Caption(f"{image_id}#0", line.text, line.tokens),),
      picture_path=str(path) if width else "",
    )

  def _split(self, split: str) -> dict[str, _Line]:
    if split not in self._lines:
      self._lines[split] = _read_file(self.files[split])
    return self._lines[split]

  @functools.cached_property
  def _lines(self) -> dict[str, dict[str, _Line]]:
    """The splits that were read so far."""
    return {}


def _caption_files(path: pathlib.Path) -> dict[str, pathlib.Path]:
  """Split -> its file, training first."""
  found: dict[str, pathlib.Path] = {}
  for file in sorted(path.iterdir()) if path.is_dir() else [path]:
    match = _FILE.fullmatch(file.name)
    if match and match["split"] in found:
      raise errors.UserError(
        f"{path}: {found[match['split']].name} and {file.name} are both the split "
        f"{match['split']}; move one of them away"
      )
    if match and file.is_file():
      found[match["split"]] = file
  if not found:
    raise errors.UserError(
      f"{path}: no captions there; expected train.jsonl or train.tsv, likewise val and test"
    )
  return {split: found[split] for split in ("train", "val", "test") if split in found}


def _read_file(path: pathlib.Path) -> dict[str, _Line]:
  """Picture id -> caption. Captions without a letter or emoji are left out and counted."""
  parse = _parse_object if path.suffix == ".jsonl" else _parse_row
  found: dict[str, _Line] = {}
  wordless = 0
  for number, row in enumerate(source_files.read_lines(path, "captions"), 1):
    if not row.strip():
      continue
    picture, text = parse(row, f"{path}, line {number}")
    tokens = tuple(emoji_words.tokenize(text))
    image_id = str(pathlib.PurePath(picture).with_suffix(""))
    if image_id in found:
      raise errors.UserError(
        f"{path}, line {number}: picture {image_id} has a caption already; expected one each"
      )
    if tokens:
      found[image_id] = _Line(picture, text.strip(), tokens)
    else:
      wordless += 1
  if wordless:
    logging.warning("%s: left out %d captions without a letter or emoji", path, wordless)
  if not found:
    raise errors.UserError(f"{path} has no captions; expected one per line")
  return found


def _parse_object(row: str, where: str) -> tuple[str, str]:
  try:
    value = json.loads(row)
  except json.JSONDecodeError as error:
    raise errors.UserError(f"{where} is not a JSON object ({error})") from None
  if isinstance(value, dict) and isinstance(value.get("caption"), str):
    for key in _PICTURE_KEYS:
      if key in value:
        return str(value[key]), value["caption"]
  raise errors.UserError(f'{where}: expected the keys "picture" and "caption"')


def _parse_row(row: str, where: str) -> tuple[str, str]:
  picture, tab, text = row.partition("\t")
  if not tab or not picture.strip():
    raise errors.UserError(f"{where}: {row[:40]!r}; expected picture, a tab, caption")
  return picture.strip(), text
