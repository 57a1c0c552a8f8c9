"""The one record type between readers and shards.

Everything here is about one picture, or about one segment of a video: ten or so frames that share
a caption. A picture is a segment of one frame. Boxes are `[x1, y1, x2, y2]` in pixels of the
original picture (`boxes_px`), 0-based; batches carry them from 0 to 1.
"""

import dataclasses
import zlib

import numpy as np

POSITION = 4  # numbers that say where a segment is in its video


def generator(image_id: str, seed: int) -> np.random.Generator:
  """Draws that follow from a picture's id and a seed alone, on every machine and in every order."""
  return np.random.Generator(np.random.PCG64([seed, zlib.crc32(image_id.encode("utf-8"))]))


@dataclasses.dataclass(frozen=True)
class Phrase:
  """A run of words that names one entity: tokens[start:end].

  Attributes:
    start: first word of the phrase.
    end: one past its last word.
    entity: the dataset's id of the entity (Flickr30k Entities: the chain), "" if none.
    kinds: coarse types, such as ("people",) or ("scene",).
    boxes_px: [n, 4] float32, every box of the entity; n = 0 if it has none.
  """

  start: int
  end: int
  entity: str = ""
  kinds: tuple[str, ...] = ()
  boxes_px: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 4), np.float32))


@dataclasses.dataclass(frozen=True)
class FrameBox:
  """A box of a word in one frame of a video.

  Attributes:
    frame: from 0.
    box_px: [4] float32.
    number: of the box in the segment's annotation; words that share a box share its number.
    crowd: the box holds a group.
  """

  frame: int
  box_px: np.ndarray
  number: int = 0
  crowd: bool = False


@dataclasses.dataclass(frozen=True)
class ObjectWord:
  """A word that names an annotated object; grounding is measured on these.

  Attributes:
    index: position in the caption's tokens.
    name: the object class, a lemma ("man").
    box_px: [4] float32, one box (several of an entity are merged by the reader's rule); of a
      video, the first box of the word.
    frame_boxes: every box of the word, if the record is of a video; () for a picture.
  """

  index: int
  name: str
  box_px: np.ndarray
  frame_boxes: tuple[FrameBox, ...] = ()

  @property
  def placed(self) -> tuple[FrameBox, ...]:
    """The boxes of the word and their frames; a picture is frame 0."""
    return self.frame_boxes or (FrameBox(0, self.box_px),)


@dataclasses.dataclass(frozen=True)
class Caption:
  """One caption of the picture.

  Attributes:
    caption_id: unique in the dataset.
    text: as distributed, without mark-up.
    tokens: lower-case words, or words as distributed if the record is of a video; never empty
      strings, never white space inside.
    tags: universal part of speech of each token ("NOUN"); empty before tagging.
    phrases: entity mentions, in order.
    objects: annotated object words, in order of their index.
  """

  caption_id: str
  text: str
  tokens: tuple[str, ...]
  tags: tuple[str, ...] = ()
  phrases: tuple[Phrase, ...] = ()
  objects: tuple[ObjectWord, ...] = ()


@dataclasses.dataclass(frozen=True)
class Regions:
  """Regions that a detector found or an annotator drew.

  Attributes:
    boxes_px: [R, 4] float32; None if the source has features without boxes.
    features: [R, D] float32; None if regions carry labels only.
    labels: object word of each region ("" unknown); empty if there are none.
    scores: [R] float32 detector confidence that something is there, or None.
    global_feature: [G] float32 of the whole picture, or None.
    position_blocks: [R, 30] float32 if the source has PFAN's own instead of boxes.
    grid_features: [C, M] float32 of the cells of the picture, row by row, or of the frames of the
      whole video; or None.
    colours: colour word of each region ("" unknown); empty if there are none.
    frame: [R] int32 frame of each region; None if all are of frame 0.
    span: the rows of `grid_features` that belong to the segment: first, one past the last; None
      if all do.
  """

  boxes_px: np.ndarray | None = None
  features: np.ndarray | None = None
  labels: tuple[str, ...] = ()
  scores: np.ndarray | None = None
  global_feature: np.ndarray | None = None
  position_blocks: np.ndarray | None = None
  grid_features: np.ndarray | None = None
  colours: tuple[str, ...] = ()
  frame: np.ndarray | None = None
  span: tuple[int, int] | None = None

  @property
  def count(self) -> int:
    for rows in (self.boxes_px, self.features):
      if rows is not None:
        return len(rows)
    return len(self.labels)


@dataclasses.dataclass(frozen=True)
class Segment:
  """Where a record is in its video.

  Attributes:
    video: id of the video.
    name: of the segment in the video ("0").
    number, count: the segment is `number` (from 0) of `count` of its video.
    start, end: in seconds.
    duration: of the video in seconds; 0 if unknown.
    frames: frames that boxes are in, spread evenly over the segment.
    dropped: positions of the empty words that the reader left out of the caption.
  """

  video: str
  name: str
  number: int = 0
  count: int = 1
  start: float = 0.0
  end: float = 0.0
  duration: float = 0.0
  frames: int = 10
  dropped: tuple[int, ...] = ()

  @property
  def position(self) -> np.ndarray:
    """[4] float32: number, count, and start and end as shares of the video."""
    whole = self.duration or 1.0
    return np.array([self.number, self.count, self.start / whole, self.end / whole], np.float32)

  def distributed_index(self, index: int) -> int:
    """The position of a word in the caption as distributed, empty words included."""
    for gap in self.dropped:
      index += gap <= index
    return index


@dataclasses.dataclass(frozen=True)
class Record:
  """One picture, or one segment of a video, with its regions and captions.

  Attributes:
    image_id: unique in the dataset; always a string, even if the dataset uses integers.
    split: "train", "val", "test", ...
    width, height: pixels of the original picture; 0 if unknown.
    captions: one or more; a segment of a hidden test set has none.
    regions: filled by a region store or a simulated detector; None from a reader.
    annotated: every annotated object of the picture, in whatever caption;
      simulated detectors see these.
    picture: encoded PNG or JPEG bytes, b"" if the record carries no picture.
    picture_path: where the picture file was, "" if unknown.
    segment: of a video; None for a picture.
  """

  image_id: str
  split: str
  width: int
  height: int
  captions: tuple[Caption, ...]
  regions: Regions | None = None
  annotated: tuple["AnnotatedObject", ...] = ()
  picture: bytes = b""
  picture_path: str = ""
  segment: Segment | None = None

  @property
  def frames(self) -> int:
    """Frames that boxes are in: 1 for a picture."""
    return self.segment.frames if self.segment else 1


@dataclasses.dataclass(frozen=True)
class AnnotatedObject:
  """An annotated box: its label is the word that names it ("" if no word does).

  Attributes:
    label: object word, a lemma.
    box_px: [4] float32.
    entity: the dataset's id of the entity.
    attributes: words that describe it ("red"), if the dataset has them.
    frame: of a video, from 0.
  """

  label: str
  box_px: np.ndarray
  entity: str = ""
  attributes: tuple[str, ...] = ()
  frame: int = 0
