import numpy as np
import tensorflow as tf

from gcap_tf.decoding import confidence

# Regions 0 and 1 cover nearly the same place, region 3 is padding.
BOXES = tf.constant([[[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.4], [0.6, 0.6, 1, 1], [0, 0, 0, 0]]])
MASK = tf.constant([[True, True, True, False]])
LABELS = tf.constant([[5, 5, 7, 0]])


def evidence(attention, box_index, log_prob):
  found = confidence.word_evidence(
    tf.constant([attention]), tf.constant([box_index]), tf.constant([log_prob]), BOXES, LABELS, MASK
  )
  return [dict(zip(confidence.WORD_EVIDENCE, row, strict=True)) for row in found.numpy()[0]]


def test_evidence_of_a_word_is_what_its_name_says():
  first, second = evidence([[0.6, 0.3, 0.1, 0], [0, 0, 1.0, 0]], [0, 2], [-0.5, -40.0])
  np.testing.assert_allclose([first["peak"], first["place"]], np.log([0.6, 0.9]), rtol=1e-4)
  np.testing.assert_allclose([first["regions"], first["namesakes"]], np.log([3, 2]), rtol=1e-5)
  assert first["word"] == -0.5
  assert second["word"] == -10 and second["namesakes"] == 0 and abs(second["place"]) < 1e-4


def test_a_slot_without_a_word_has_finite_evidence():
  (row,) = evidence([[0.0, 0, 0, 0]], [-1], [0.0])
  assert all(np.isfinite(value) for value in row.values())


def test_a_calibrated_score_is_the_logistic_of_the_evidence():
  calibration = confidence.Calibration((1.0, 0, 0, 0, 2.0), -1.0, (3.0, 0, 0), 0.5)
  rows = tf.constant([[[0.5, 9, 9, 9, 0.25], [0.5, 9, 9, 9, 0.25]]])
  found = confidence.word_scores(calibration, rows, tf.constant([[True, False]]))
  np.testing.assert_allclose(found, [[0.5, 0.0]], atol=1e-6)
  score = confidence.caption_score(calibration, tf.constant([[0.5, 9.0, 9.0]]))
  np.testing.assert_allclose(score, [1 / (1 + np.exp(-2.0))], rtol=1e-5)


def test_without_calibration_the_attention_on_the_place_is_answered():
  rows = tf.math.log(tf.constant([[[0.2, 0.7, 1, 1, 1]]]))
  found = confidence.word_scores(None, rows, tf.constant([[True]]))
  np.testing.assert_allclose(found, [[0.7]], rtol=1e-5)


def test_evidence_of_a_caption_is_over_its_things():
  scores = tf.constant([[0.4, 0.0, 0.8], [0.0, 0.0, 0.0]])
  grounded = tf.constant([[True, False, True], [False, False, False]])
  log_prob = tf.constant([[-1.0, -1.0, -2.0], [-3.0, 0.0, 0.0]])
  found = confidence.caption_evidence(scores, grounded, log_prob, tf.constant([3, 1]))
  np.testing.assert_allclose(found, [[0.6, 0.4, -1.0], [0.0, 0.0, -1.5]], rtol=1e-5)
