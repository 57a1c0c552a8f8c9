import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import boxes
from tests.losses import numeric

# Two words of one caption: regions 0 and 2 overlap the first by half or more, none the second.
OVERLAP = np.array([[[0.9, 0.2, 0.6, 0.0], [0.3, 0.1, 0.0, 0.0], [0.0] * 4]], np.float32)
ATTENTION = np.array(
  [[[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]], np.float32
)
MASK = np.array([[True, True, True, False]])


def loss(kind, overlap=OVERLAP):
  return boxes.loss(kind, tf.constant(overlap), tf.constant(ATTENTION), tf.constant(MASK))


def test_nll_takes_the_best_region_of_words_that_have_one():
  np.testing.assert_allclose(loss("nll"), -np.log(0.4), rtol=1e-5)


def test_extend_nll_averages_over_pairs():
  np.testing.assert_allclose(loss("extend_nll"), -(np.log(0.4) + np.log(0.2)) / 2, rtol=1e-5)


def test_kl_has_no_threshold_and_ignores_padding():
  expected = 0.0
  for t in (0, 1):
    target = np.exp(OVERLAP[0, t, :3] / 0.5)
    target /= target.sum()
    expected += sum(p * np.log(p / ATTENTION[0, t, r]) for r, p in enumerate(target)) / 2
  np.testing.assert_allclose(loss("kl"), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["nll", "kl", "extend_nll"])
def test_no_annotation_gives_zero_and_no_nan(kind):
  attention = tf.Variable(ATTENTION)
  with tf.GradientTape() as tape:
    value = boxes.loss(kind, tf.zeros([1, 3, 4]), attention, tf.constant(MASK))
  assert float(value) == 0.0
  gradient = tape.gradient(value, attention)
  assert gradient is None or not np.isnan(tf.convert_to_tensor(gradient)).any()


@pytest.mark.parametrize("kind", ["nll", "kl", "extend_nll"])
def test_gradient_agrees_with_differences(kind):
  numeric.check_gradient(
    lambda x: boxes.loss(kind, tf.constant(OVERLAP), tf.nn.softmax(x), tf.constant(MASK)),
    np.log(ATTENTION),
  )


def test_half_an_overlap_is_not_more_than_half():
  edge = np.where(OVERLAP > 0.5, 0.5, OVERLAP).astype(np.float32)
  assert float(loss("nll", edge)) == 0.0


def test_attention_in_annotated_frames_sums_to_one_there():
  targets = tf.constant([[[0.7, 0.1, -1.0, 0.0]]])
  allowed = boxes.annotated_frames(targets, tf.constant([[True, True, True, False]]))
  assert allowed.numpy().tolist() == [[[True, True, False, False]]]
  attention = boxes.in_annotated_frames(tf.constant([[[0.1, 0.3, 0.6, 0.0]]]), allowed)
  np.testing.assert_allclose(attention, [[[0.25, 0.75, 0, 0]]], atol=1e-6)


def test_regions_of_other_frames_do_not_count():
  """By hand: only two regions are in the annotated frame; the first has the box."""
  targets = tf.constant([[[0.7, 0.1, -1.0]]])
  attention = tf.constant([[[0.25, 0.75, 0.0]]])
  allowed = tf.constant([[[True, True, False]]])
  for kind in ("nll", "extend_nll"):
    np.testing.assert_allclose(boxes.loss(kind, targets, attention, allowed), np.log(4), rtol=1e-5)
  near = np.exp(np.array([1.4, 0.2]))
  wanted = near / near.sum()
  expected = (wanted * np.log(wanted / [0.25, 0.75])).sum()
  np.testing.assert_allclose(boxes.loss("kl", targets, attention, allowed), expected, rtol=1e-4)
