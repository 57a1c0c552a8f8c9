"""Reads Flickr30k Entities as distributed (Plummer et al., ICCV 2015, arXiv:1505.04870).

A source is a folder with

    annotations.zip                 or its content, `Annotations/` and `Sentences/`
    train.txt, val.txt, test.txt    ids of the pictures, one per line
    UNRELATED_CAPTIONS              captions that describe another picture

Object words, on which grounding is measured, are chosen as the authors of Grounded Video
Description (Zhou et al., CVPR 2019, arXiv:1812.06587) chose those of ActivityNet-Entities:
in each phrase with boxes, the last word whose lemma is in a class list.

Choices that the format leaves open:
  A word has one box; several of a chain are merged by `merge`.
  A box of several chains is labelled by its most specific one: the mentioned chain with
  the fewest boxes, then the most mentions, then the first listed. So the box of a man
  who is also one of "people" is labelled "man".
  A label is the class that the captions use most for the chain (the first of equals);
  if no class fits, the lemma of the head; "" if no caption mentions the chain.
"""

import collections
import functools
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from absl import logging

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.readers import (
  entities_boxes,
  entities_pictures,
  entities_sentences,
  phrase_heads,
  reader,
)
from gcap_tf.text import object_words

SPLITS = ("train", "val", "test")
PICTURE_FOLDER = "flickr30k-images"
# In the training split 427,225 phrases have boxes; the nouns that head 100 of them or more
# are, except for about twenty, the usual 480 classes. Smaller sources need the same share.
CLASS_SHARE = 100 / 427_225

Unrelated = Literal["keep", "drop"]


class FlickrEntities(reader.Reader):
  """Flickr30k Entities, picture by picture.

  Workers open the archive themselves and share the class list that was found before
  the object was pickled.

  Attributes:
    boxes_clipped: boxes cut at a picture's edge by this process so far.
  """

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
    unrelated: Unrelated = "keep",
  ):
    """Looks at the source; nothing is parsed yet.

    Args:
      source: the folder, or `annotations.zip` in it.
      classes: object classes; by default the heads which the captions use most often.
      merge: see `reader.Reader`.
      unrelated: whether captions of UNRELATED_CAPTIONS are kept or dropped.
    """
    super().__init__(source, classes, merge)
    self.tree = source_files.Tree(source, "annotations.zip", ("Annotations", "Sentences"))
    self.unrelated = unrelated
    self.boxes_clipped = 0

  def __getstate__(self) -> dict[str, Any]:
    return {**super().__getstate__(), "_classes": self.classes}

  @property
  def splits(self) -> tuple[str, ...]:
    """Those of train, val and test that the source lists."""
    found = tuple(name for name in SPLITS if (self.tree.folder / f"{name}.txt").is_file())
    if not found:
      raise errors.UserError(
        f"{self.tree.folder}: no train.txt, val.txt or test.txt there; "
        "put the split lists of Flickr30k Entities next to annotations.zip"
      )
    return found

  @property
  def classes(self) -> object_words.ObjectClasses:
    if self._classes is None:
      self._classes = self.default_classes()
    return self._classes

  def image_ids(self, split: str) -> tuple[str, ...]:
    return tuple(source_files.read_ids(self.tree.folder / f"{split}.txt"))

  def record(self, image_id: str, split: str | None = None) -> records.Record:
    """Parses one picture; `split` is looked up in the lists if it is not given."""
    split = split or self._split_of(image_id)
    boxes = self._boxes(image_id)
    self.boxes_clipped += boxes.clipped
    return entities_pictures.record(
      image_id=image_id,
      split=split,
      boxes=boxes,
      sentences=self._sentences(image_id),
      classes=self.classes,
      merge=self.merge,
      picture_path=self._picture_path(image_id),
    )

  def read(
    self,
    splits: Sequence[str] | None = None,
    max_images: int | None = None,
    progress: bool = True,
  ) -> Iterator[records.Record]:
    yield from super().read(splits, max_images, progress)
    if self.boxes_clipped:
      logging.warning("%s: cut %d boxes at a picture's edge", self.source, self.boxes_clipped)

  def head_word_counts(self, splits: Iterable[str] | None = None) -> collections.Counter[str]:
    """How often each word ends a phrase that has boxes; what a class list is made from."""
    counts: collections.Counter[str] = collections.Counter()
    for split in splits or self.splits:
      for image_id in self.image_ids(split):
        boxed = self._boxes(image_id).rows
        for _, sentence in self._sentences(image_id):
          counts.update(
            sentence.tokens[mention.end - 1]
            for mention in sentence.mentions
            if mention.chain in boxed
          )
    return counts

  def default_classes(self) -> object_words.ObjectClasses:
    """The frequent heads of the training captions; of all captions if there is no train split."""
    logging.info("%s: no class list given, counting the heads of phrases", self.tree.folder)
    counts = self.head_word_counts(["train"] if "train" in self.splits else None)
    names = {
      word: count
      for word, count in counts.items()
      if phrase_heads.is_name(phrase_heads.noun_lemma(word))
    }
    return object_words.ObjectClasses.build(
      names, min_count=max(1, round(CLASS_SHARE * counts.total()))
    )

  def _boxes(self, image_id: str) -> entities_boxes.EntityBoxes:
    name = f"Annotations/{image_id}.xml"
    return entities_boxes.parse(self.tree.read(name), self.tree.where(name))

  def _sentences(self, image_id: str) -> list[tuple[int, entities_sentences.Sentence]]:
    """(number from 0, sentence) of each caption that is kept."""
    name = f"Sentences/{image_id}.txt"
    where = self.tree.where(name)
    lines = source_files.decode(self.tree.read(name), where).rstrip().split("\n")
    sentences = [
      (number, entities_sentences.parse(line, f"{where}, line {number + 1}"))
      for number, line in enumerate(lines)
      if (image_id, number + 1) not in self._dropped
    ]
    if not sentences:
      raise errors.UserError(
        f"{where}: UNRELATED_CAPTIONS lists every caption of the picture; take it out of the "
        'split list, or read with unrelated="keep"'
      )
    return sentences

  def _picture_path(self, image_id: str) -> str:
    return str(self._pictures / f"{image_id}.jpg") if self._pictures else ""

  @functools.cached_property
  def _pictures(self) -> pathlib.Path | None:
    folder = self.tree.folder / PICTURE_FOLDER
    return folder if folder.is_dir() else None

  @functools.cached_property
  def _dropped(self) -> frozenset[tuple[str, int]]:
    """(picture, caption number from 1) of the captions that are not read."""
    if self.unrelated == "keep":
      return frozenset()
    return frozenset(read_unrelated(self.tree.folder / "UNRELATED_CAPTIONS"))

  def _split_of(self, image_id: str) -> str:
    try:
      return self._splits_by_id[image_id]
    except KeyError:
      raise errors.UserError(
        f"{self.tree.folder}: picture {image_id} is in none of the lists "
        f"{', '.join(f'{split}.txt' for split in self.splits)}"
      ) from None

  @functools.cached_property
  def _splits_by_id(self) -> dict[str, str]:
    return {image_id: split for split in self.splits for image_id in self.image_ids(split)}


def read_unrelated(path: files.PathLike) -> Iterator[tuple[str, int]]:
  """(picture, caption number from 1) of captions that describe another picture."""
  for number, line in enumerate(source_files.read_lines(path, "list of captions"), 1):
    if not line.strip() or line.startswith("#"):
      continue
    fields = line.split()
    if len(fields) != 2 or not fields[1].isdecimal():
      raise errors.UserError(
        f'{path}, line {number}: {line!r}; expected "<imageID> <sentence number>"'
      )
    yield fields[0], int(fields[1])
