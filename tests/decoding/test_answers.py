import numpy as np
import tensorflow as tf

from gcap_tf.decoding import answers, confidence, config, greedy
from tests.decoding import tiny

TABLE = tiny.table({0: {1: 1.0}, 1: {2: 1.0}, 2: {0: 1.0}}, 5)


def batch(labels, count=4):
  pictures = len(labels)
  return {
    **tiny.memory(pictures),
    "region_labels": tf.constant(labels),
    "region_mask": tf.sequence_mask([count] * pictures, 4),
  }


def finish(regions, **rules):
  decoded = greedy.decode(tiny.Script([TABLE]), regions, config.DecodeConfig(max_length=4))
  found = answers.finish(decoded, regions, answers.AnswerRules(things=(2,), **rules), 5)
  return {name: value.numpy() for name, value in found.items()}


def test_things_are_grounded_and_scored():
  found = finish(batch([[1, 0, 0, 0]]))
  assert found["grounded"].tolist() == [[False, True, False, False]]
  assert (found["word_score"] > 0).tolist() == found["grounded"].tolist()
  assert found["answered"].all() and 0 < found["score"][0] <= 1


def test_a_captioner_of_labels_answers_nothing_if_no_label_is_known():
  found = finish(batch([[0, 0, 0, 0], [0, 3, 0, 0]]), labels_only=True)
  assert found["answered"].tolist() == [False, True]
  assert found["tokens"].tolist() == [[0, 0, 0, 0], [1, 2, 0, 0]]
  assert found["length"].tolist() == [0, 2]
  assert (found["box_index"][0] == -1).all() and not found["box"][0].any()
  assert not found["attention"][0].any() and not found["word_score"][0].any()
  assert found["score"][0] == 0 and np.isfinite(found["log_prob"]).all()


def test_a_label_in_padding_is_not_known():
  assert not finish(batch([[0, 0, 0, 3]], count=3), labels_only=True)["answered"].any()


def test_a_captioner_of_features_answers_nothing_without_regions():
  assert finish(batch([[0, 0, 0, 0]]))["answered"].all()
  assert not finish(batch([[0, 0, 0, 0]], count=0))["answered"].any()


def test_a_captioner_of_features_answers_nothing_below_its_threshold():
  sure = confidence.Calibration((0.0,) * 5, 0.0, (0.0,) * 3, 0.0, answer_threshold=0.4)
  unsure = confidence.Calibration((0.0,) * 5, 0.0, (0.0,) * 3, -2.0, answer_threshold=0.4)
  assert finish(batch([[0, 0, 0, 0]]), calibration=sure)["answered"].all()
  assert not finish(batch([[0, 0, 0, 0]]), calibration=unsure)["answered"].any()
  assert finish(batch([[1, 0, 0, 0]]), calibration=unsure, labels_only=True)["answered"].all()


def test_the_right_article_stands_before_each_word():
  found = finish(batch([[1, 0, 0, 0]]), articles=(1, 3), after_an=(2,))
  assert found["tokens"].tolist() == [[3, 2, 0, 0]]
  found = finish(batch([[1, 0, 0, 0]]), articles=(3, 1), after_an=(4,))
  assert found["tokens"].tolist() == [[3, 2, 0, 0]]
  assert finish(batch([[1, 0, 0, 0]]))["tokens"].tolist() == [[1, 2, 0, 0]]
