"""What a detector learns from one annotated picture: boxes, object words and colours.

A box's words are the object words of all phrases, of all captions, that point to it; its
colours are the colour words before the object word of those phrases. Both are counts, so that a
box that three captions call "man" and two "person" teaches both words, three to two.

This is the only place of the program where words are tied to boxes. It feeds the detector, never
a captioner.
"""

import dataclasses

import numpy as np

from gcap_tf.data import records
from gcap_tf.data.readers import phrase_heads
from gcap_tf.text import colour_words, object_words

COLOURS = colour_words.COLOURS


@dataclasses.dataclass(frozen=True)
class Picture:
  """The annotated objects of one picture.

  Attributes:
    image_id: as in the split list.
    boxes: [n, 4] float32, x1, y1, x2, y2 from 0 to 1 of the picture.
    words: [n, L] float32, how many phrases call the box so; zeros if none has an object word.
    colours: [n, 11] float32, how many phrases name that colour.
  """

  image_id: str
  boxes: np.ndarray
  words: np.ndarray
  colours: np.ndarray


def of_record(record: records.Record, classes: object_words.ObjectClasses) -> Picture:
  """The targets of a record; boxes that are listed twice are counted once."""
  rows: dict[tuple[float, ...], int] = {}
  for annotated in record.annotated:
    rows.setdefault(_key(annotated.box_px), len(rows))
  words = np.zeros((len(rows), len(classes.names)), np.float32)
  colours = np.zeros((len(rows), len(COLOURS)), np.float32)
  for caption in record.captions:
    for phrase in caption.phrases:
      word_ids, colour_ids = _described(caption.tokens[phrase.start : phrase.end], classes)
      for box_px in phrase.boxes_px:
        row = rows[_key(box_px)]
        words[row, word_ids] += 1
        colours[row, colour_ids] += 1
  sides = np.array([record.width, record.height] * 2, np.float32)
  boxes = np.array(list(rows), np.float32).reshape(-1, 4) / sides
  return Picture(record.image_id, boxes, words, colours)


def _key(box_px: np.ndarray) -> tuple[float, ...]:
  return tuple(map(float, box_px))


def _described(
  tokens: tuple[str, ...], classes: object_words.ObjectClasses
) -> tuple[list[int], list[int]]:
  """Positions of the phrase's object word (one or none) and of its colours."""
  named = phrase_heads.class_word(tokens, classes)
  head = len(tokens) - 1 if named is None else named[0]
  attributes = phrase_heads.attributes(tokens[:head])
  colours = {COLOURS.index(colour) for word in attributes if (colour := colour_words.of(word))}
  words = [] if named is None else [classes.ids[named[1]] - 1]
  return words, sorted(colours)
