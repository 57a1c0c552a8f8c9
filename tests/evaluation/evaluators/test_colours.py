"""Tests of gcap_tf/evaluation/evaluators/colours.py."""

import dataclasses

from gcap_tf.evaluation.evaluators import colours
from gcap_tf.metrics import coco_io
from gcap_tf.text import tokenizer
from tests.evaluation.evaluators import subjects


def test_the_split_s_own_captions_have_the_right_colours(tmp_path):
  subject = subjects.captioner(tmp_path)
  references = coco_io.read_references(subject.split.data.captions_path("val"))
  own = [
    dataclasses.replace(answer, words=tuple(tokenizer.tokenize(references[answer.image_id][0])))
    for answer in subject.answers
  ]
  subject.__dict__["answers"] = own
  values = colours.Colours().run(subject).values
  assert values["colour_accuracy"] == 100.0
  assert values["colours_named"] == values["colours_judged"] > 0
  swapped = {"red": "blue", "blue": "red", "green": "pink", "white": "brown", "black": "purple"}
  wrong = [tuple(swapped.get(word, word) for word in answer.words) for answer in own]
  subject.__dict__["answers"] = [
    dataclasses.replace(answer, words=words) for answer, words in zip(own, wrong, strict=True)
  ]
  assert colours.Colours().run(subject).values.get("colour_accuracy", 0.0) < 100.0
