import numpy as np

from gcap_tf.metrics import results_io
from gcap_tf.metrics.answers import box_judgements

BOX, ELSEWHERE = [0, 0, 100, 100], [200, 200, 300, 300]


def sentence(tokens, *objects):
  indices, classes, boxes = zip(*objects, strict=True) if objects else ((), (), ())
  boxes = np.array(boxes, np.float32).reshape(-1, 4)
  return results_io.ReferenceCaption(tuple(tokens.split()), indices, classes, boxes)


REFERENCE = results_io.Reference(
  "1", (sentence("a dog on grass", (1, "dog", BOX)), sentence("two dogs", (1, "dog", ELSEWHERE)))
)


def judge(*words):
  classes = tuple(name for name, _ in words)
  boxes = np.array([box for _, box in words], np.float32).reshape(-1, 4)
  predicted = results_io.PredictedCaption(classes, tuple(range(len(words))), boxes)
  return box_judgements.judge(REFERENCE, predicted, str.lower).tolist()


def test_a_box_of_any_sentence_makes_a_word_right():
  assert judge(("dog", [5, 5, 100, 100])) == [1.0]
  assert judge(("dog", ELSEWHERE)) == [1.0]


def test_a_box_elsewhere_and_a_thing_that_is_not_there_are_wrong():
  assert judge(("dog", [60, 60, 200, 200]), ("cat", BOX)) == [0.0, 0.0]


def test_a_word_that_is_said_without_a_box_is_unknown():
  assert np.isnan(judge(("grass", BOX))).all()


def test_a_caption_without_things_has_nothing_to_judge():
  assert judge() == []
