"""Reads Karpathy's split files, `dataset_flickr30k.json` and `dataset_coco.json`.

Karpathy and Fei-Fei, Deep Visual-Semantic Alignments, CVPR 2015, arXiv:1412.2306. The
files hold captions and splits; if the pictures are next to them, sizes are read from those.
"""

import functools
import pathlib
from collections.abc import Sequence
from typing import Any, Literal

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.readers import reader
from gcap_tf.text import object_words, tokenizer

_KEYS = {"filename": str, "split": str, "sentences": list}
Restval = Literal["train", "keep", "drop"]


class Karpathy(reader.Reader):
  """A split file: captions without boxes.

  The id of a picture is its `cocoid`, or else its file name without ending.
  """

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
    restval: Restval = "train",
    pictures: files.PathLike | None = None,
  ):
    """Looks at the source.

    Args:
      source: the JSON file, or a folder with one `dataset_*.json`.
      classes: not used, no boxes are annotated.
      merge: likewise.
      restval: whether COCO's split "restval" joins "train" (as in all published results),
        stays a split, or is left out.
      pictures: folder of the picture files; by default the JSON file's own.
    """
    super().__init__(source, classes, merge)
    self.path = source_files.one_file(source, "dataset_*.json", "split file")
    self.restval = restval
    self.pictures = pathlib.Path(pictures) if pictures else self.path.parent

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(self._entries)

  def image_ids(self, split: str) -> Sequence[str]:
    return list(self._entries[split])

  def record(self, image_id: str, split: str) -> records.Record:
    entry = self._entries[split][image_id]
    picture = self._picture(entry)
    width, height = source_files.picture_size(picture) if picture else (0, 0)
    return records.Record(
      image_id=image_id,
      split=split,
      width=width,
      height=height,
      captions=tuple(
        self._caption(sentence, image_id, number)
        for number, sentence in enumerate(entry["sentences"])
      ),
      picture_path=str(picture or ""),
    )

  def _caption(self, sentence: dict[str, Any], image_id: str, number: int) -> records.Caption:
    here = f"{self.path}: picture {image_id}, sentence {number}"
    has_text = isinstance(sentence, dict) and "raw" in sentence
    source_files.require(sentence, {"raw": str} if has_text else {"tokens": list}, here)
    given = sentence.get("tokens") or []
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
      raise errors.UserError(f'{here}: "tokens" must list words')
    text = sentence.get("raw") or " ".join(given)
    listed = given or tokenizer.tokenize(text)
    tokens = tuple(token for word in listed for token in word.lower().split())
    if not tokens:
      raise errors.UserError(f"{here} has no words; remove it")
    return records.Caption(
      str(sentence.get("sentid", f"{image_id}#{number}")), text.strip(), tokens
    )

  def _picture(self, entry: dict[str, Any]) -> pathlib.Path | None:
    paths = (
      self.pictures / entry.get("filepath", "") / entry["filename"],
      self.pictures / entry["filename"],
    )
    return next((path for path in paths if path.is_file()), None)

  @functools.cached_property
  def _entries(self) -> dict[str, dict[str, dict[str, Any]]]:
    """Split -> picture -> its entry, in the file's order."""
    images = files.read_json(self.path, "split file")
    images = images.get("images") if isinstance(images, dict) else None
    if not isinstance(images, list) or not images:
      raise errors.UserError(f'{self.path}: no "images"; expected a split file of Karpathy')
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    for number, entry in enumerate(images):
      source_files.require(entry, _KEYS, f"{self.path}: image {number}")
      if not isinstance(entry.get("filepath", ""), str):
        raise errors.UserError(f'{self.path}: image {number}: "filepath" must name a folder')
      split = entry["split"]
      if split == "restval" and self.restval != "keep":
        split = "train" if self.restval == "train" else None
      if split is None:
        continue
      image_id = str(entry.get("cocoid", pathlib.PurePath(entry["filename"]).stem))
      if image_id in entries.setdefault(split, {}):
        raise errors.UserError(f"{self.path}: picture {image_id} is listed twice in {split}")
      entries[split][image_id] = entry
    return entries
