import numpy as np

from gcap_tf.data import records
from gcap_tf.text import object_words
from gcap_tf.vision import annotations

_MAN = np.array([0, 0, 50, 100], np.float32)
_SHIRT = np.array([10, 20, 40, 60], np.float32)
_CLASSES = object_words.ObjectClasses(["man", "person", "shirt", "people"])


def _phrase(start, end, *boxes):
  return records.Phrase(start, end, "1", (), np.array(boxes, np.float32).reshape(-1, 4))


def _record():
  captions = (
    records.Caption(
      "a#0",
      "",
      ("a", "man", "in", "a", "red", "and", "grey", "shirt"),
      phrases=(_phrase(0, 2, _MAN), _phrase(3, 8, _SHIRT)),
    ),
    records.Caption("a#1", "", ("two", "people"), phrases=(_phrase(0, 2, _MAN, _SHIRT),)),
    records.Caption("a#2", "", ("a", "red", "thing"), phrases=(_phrase(0, 3, _SHIRT),)),
  )
  annotated = [records.AnnotatedObject("", box) for box in (_MAN, _SHIRT, _MAN)]
  return records.Record("a", "train", 200, 100, captions, annotated=tuple(annotated))


def test_boxes_are_fractions_and_doubles_count_once():
  picture = annotations.of_record(_record(), _CLASSES)
  np.testing.assert_allclose(picture.boxes, [[0, 0, 0.25, 1], [0.05, 0.2, 0.2, 0.6]])


def test_words_are_counted_over_all_phrases_that_point_to_the_box():
  picture = annotations.of_record(_record(), _CLASSES)
  np.testing.assert_array_equal(picture.words, [[1, 0, 0, 1], [0, 0, 1, 1]])


def test_colours_are_those_before_the_object_word_and_grey_is_gray():
  picture = annotations.of_record(_record(), _CLASSES)
  named = {
    name: count
    for name, count in zip(annotations.COLOURS, picture.colours[1], strict=True)
    if count
  }
  assert named == {"red": 2, "gray": 1}
  assert not picture.colours[0].any()


def test_a_picture_without_boxes_has_empty_targets():
  record = records.Record("b", "train", 10, 10, ())
  picture = annotations.of_record(record, _CLASSES)
  assert picture.boxes.shape == (0, 4) and picture.words.shape == (0, 4)
