import numpy as np
import pytest

from gcap_tf.data import validation
from gcap_tf.data.readers import entities_boxes, entities_pictures, entities_sentences
from gcap_tf.text import object_words

CLASSES = object_words.ObjectClasses(["clown", "dog", "hat", "animal"])


def make(boxes, lines, merge="union"):
  """`boxes`: (chains, x1, y1, x2, y2) 0-based of a 100 x 80 picture."""
  rows: dict[str, list[int]] = {}
  for row, (chains, *_) in enumerate(boxes):
    for chain in chains:
      rows.setdefault(chain, []).append(row)
  entity_boxes = entities_boxes.EntityBoxes(
    width=100,
    height=80,
    boxes_px=np.array([box[1:] for box in boxes], np.float32).reshape(-1, 4),
    chains=tuple(tuple(box[0]) for box in boxes),
    rows=rows,
    unboxed=frozenset(),
    clipped=0,
  )
  sentences = [(n, entities_sentences.parse(line, "here")) for n, line in enumerate(lines)]
  record = entities_pictures.record("7", "train", entity_boxes, sentences, CLASSES, merge)
  validation.check_record(record, "made")
  return record


def test_an_object_word_is_the_last_class_word_of_a_phrase_with_boxes():
  record = make(
    [(["1"], 0, 0, 10, 10)],
    ["[/EN#1/people A clown with a striped hat] pets [/EN#2/animals a dog] ."],
  )
  (word,) = record.captions[0].objects
  assert (word.index, word.name, word.box_px.tolist()) == (5, "hat", [0, 0, 10, 10])


@pytest.mark.parametrize(
  ("merge", "expected"),
  [("union", [0, 0, 50, 50]), ("first", [0, 0, 10, 10]), ("largest", [20, 20, 50, 50])],
)
def test_boxes_of_a_chain_merge_into_the_box_of_its_word(merge, expected):
  boxes = [(["1"], 0, 0, 10, 10), (["1"], 20, 20, 50, 50)]
  record = make(boxes, ["[/EN#1/people Clowns] laugh"], merge)
  assert record.captions[0].objects[0].box_px.tolist() == expected
  assert record.captions[0].phrases[0].boxes_px.tolist() == [list(box[1:]) for box in boxes]


def test_phrases_of_chain_zero_belong_to_no_entity():
  record = make([], ["[/EN#0/notvisual The day] begins"])
  (phrase,) = record.captions[0].phrases
  assert phrase.entity == "" and phrase.kinds == ("notvisual",) and len(phrase.boxes_px) == 0


def test_a_box_is_labelled_by_the_class_used_most_often():
  record = make(
    [(["1"], 0, 0, 10, 10)],
    [
      "[/EN#1/animals An animal] barks",
      "[/EN#1/animals A small dog] barks",
      "[/EN#1/animals The brown dog] barks",
    ],
  )
  (thing,) = record.annotated
  assert (thing.label, thing.entity) == ("dog", "1")
  assert thing.attributes == ("small", "brown")


def test_of_equally_used_classes_the_first_is_the_label():
  record = make(
    [(["1"], 0, 0, 10, 10)], ["[/EN#1/animals An animal] barks", "[/EN#1/animals A dog] barks"]
  )
  assert record.annotated[0].label == "animal"


def test_a_box_whose_phrases_name_no_class_is_labelled_by_its_head():
  record = make([(["1"], 0, 0, 10, 10)], ["[/EN#1/other Two striped tents] stand"])
  assert record.annotated[0].label == "tent"
  assert record.captions[0].objects == ()


def test_a_box_that_no_caption_mentions_has_an_empty_label():
  record = make([(["4"], 0, 0, 10, 10)], ["It rains ."])
  assert record.annotated[0].label == "" and record.annotated[0].entity == "4"


def test_a_box_of_several_chains_takes_its_most_specific_one():
  # Chain 1 has two boxes ("animals"), chain 2 one of them ("dog").
  record = make(
    [(["1", "2"], 0, 0, 10, 10), (["1"], 20, 0, 30, 10)],
    ["[/EN#1/animals Animals] play", "[/EN#1/animals Animals] and [/EN#2/animals a dog] play"],
  )
  assert [(thing.label, thing.entity) for thing in record.annotated] == [
    ("dog", "2"),
    ("animal", "1"),
  ]


def test_a_mentioned_chain_labels_a_box_before_an_unmentioned_one():
  record = make([(["3", "1"], 0, 0, 10, 10), (["1"], 20, 0, 30, 10)], ["[/EN#1/animals Dogs] play"])
  assert record.annotated[0].label == "dog"


def test_caption_ids_are_picture_and_number():
  record = make([], ["Rain .", "Snow ."])
  assert [caption.caption_id for caption in record.captions] == ["7#0", "7#1"]
