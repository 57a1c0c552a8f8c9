"""Joins the sentences and boxes of one Flickr30k Entities picture into a `Record`."""

import collections
import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from gcap_tf import box_geometry
from gcap_tf.data import records
from gcap_tf.data.readers import entities_boxes, entities_sentences, phrase_heads
from gcap_tf.text import object_words

NOT_VISUAL = "0"
_NO_BOXES = np.zeros((0, 4), np.float32)


def record(
  image_id: str,
  split: str,
  boxes: entities_boxes.EntityBoxes,
  sentences: Sequence[tuple[int, entities_sentences.Sentence]],
  classes: object_words.ObjectClasses,
  merge: box_geometry.Merge,
  picture_path: str = "",
) -> records.Record:
  """Makes the record of a picture.

  Args:
    image_id: as in the split list.
    split: name of its split.
    boxes: of its XML file.
    sentences: (number from 0, caption), which become `caption_id`s `ID#number`.
    classes: words that name objects.
    merge: how several boxes of a chain become one.
    picture_path: of the picture file, "" if there is none.
  """
  picture = _Picture(boxes, classes, merge)
  captions = tuple(
    picture.caption(f"{image_id}#{number}", sentence) for number, sentence in sentences
  )
  return records.Record(
    image_id=image_id,
    split=split,
    width=boxes.width,
    height=boxes.height,
    captions=captions,
    annotated=picture.annotated(),
    picture_path=picture_path,
  )


@dataclasses.dataclass
class _Chain:
  """The words that captions use for an entity, over all its mentions."""

  mentions: int = 0
  class_names: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
  head_lemmas: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
  attributes: dict[str, list[str]] = dataclasses.field(default_factory=dict)

  @property
  def label(self) -> str:
    names = self.class_names or self.head_lemmas
    return max(names, key=names.__getitem__, default="")  # max() keeps the first of equals.


class _Picture:
  def __init__(
    self,
    boxes: entities_boxes.EntityBoxes,
    classes: object_words.ObjectClasses,
    merge: box_geometry.Merge,
  ):
    self.boxes = boxes
    self.classes = classes
    # Phrases of a chain share its arrays: a picture has 18 phrases but 5 chains with boxes.
    self.boxes_px = {chain: boxes.boxes_px[rows] for chain, rows in boxes.rows.items()}
    self.merged_px = {
      chain: boxes_px[0] if len(boxes_px) == 1 else box_geometry.merged(boxes_px, merge)
      for chain, boxes_px in self.boxes_px.items()
    }
    self.chains: dict[str, _Chain] = collections.defaultdict(_Chain)

  def caption(self, caption_id: str, sentence: entities_sentences.Sentence) -> records.Caption:
    phrases, objects = [], []
    for mention in sentence.mentions:
      visual = mention.chain != NOT_VISUAL
      phrases.append(
        records.Phrase(
          start=mention.start,
          end=mention.end,
          entity=mention.chain if visual else "",
          kinds=mention.kinds,
          boxes_px=self.boxes_px.get(mention.chain, _NO_BOXES),
        )
      )
      if mention.chain in self.boxes_px:
        named = self._note(mention.chain, sentence.tokens[mention.start : mention.end])
        if named is not None:
          position, name = named
          objects.append(
            records.ObjectWord(mention.start + position, name, self.merged_px[mention.chain])
          )
    return records.Caption(
      caption_id=caption_id,
      text=sentence.text,
      tokens=sentence.tokens,
      phrases=tuple(phrases),
      objects=tuple(objects),
    )

  def annotated(self) -> tuple[records.AnnotatedObject, ...]:
    """One object per box, in the order of the file; call it after the captions."""
    return tuple(
      self._annotated(box_px, names)
      for box_px, names in zip(self.boxes.boxes_px, self.boxes.chains, strict=True)
    )

  def _note(self, chain: str, tokens: tuple[str, ...]) -> tuple[int, str] | None:
    """Records the words that a caption uses for the chain; returns position and class of its
    object word."""
    seen = self.chains[chain]
    seen.mentions += 1
    named, described = _describe(tokens, self.classes)
    if named is not None:
      seen.class_names[named[1]] += 1
      label = named[1]
    else:
      label = phrase_heads.noun_lemma(tokens[-1])
      seen.head_lemmas[label] += 1
    seen.attributes.setdefault(label, []).extend(described)
    return named

  def _annotated(self, box_px: np.ndarray, names: tuple[str, ...]) -> records.AnnotatedObject:
    name = names[0] if len(names) == 1 else min(names, key=self._generality)
    chain = self.chains.get(name)
    if chain is None:
      return records.AnnotatedObject("", box_px, name)
    label = chain.label
    return records.AnnotatedObject(
      label, box_px, name, tuple(dict.fromkeys(chain.attributes[label]))
    )

  def _generality(self, name: str) -> tuple[bool, int, int]:
    chain = self.chains.get(name)
    if chain is None:
      return True, 0, 0
    return False, len(self.boxes.rows[name]), -chain.mentions


@functools.lru_cache(maxsize=1 << 17)
def _describe(
  tokens: tuple[str, ...], classes: object_words.ObjectClasses
) -> tuple[tuple[int, str] | None, tuple[str, ...]]:
  """The object word of a phrase, and the words before it that describe it."""
  named = phrase_heads.class_word(tokens, classes)
  head = len(tokens) - 1 if named is None else named[0]
  return named, phrase_heads.attributes(tokens[:head])
