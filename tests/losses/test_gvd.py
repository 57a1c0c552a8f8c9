import numpy as np
import tensorflow as tf

from gcap_tf.losses import gvd
from tests.losses import numeric

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(2, 3, 4)).astype(np.float32)
CLASS_LOGITS = RNG.normal(size=(2, 4, 5)).astype(np.float32)
CLASSES = np.array([[1, 0, 4], [2, 3, 0]], np.int32)
OVERLAP = RNG.uniform(size=(2, 3, 4)).astype(np.float32)
MASK = np.array([[True] * 4, [True, True, True, False]])
POSITIVE = (OVERLAP > 0.5) & MASK[:, None]


def attention_by_hand(scores):
  values = []
  for b, t, r in np.argwhere(POSITIVE):
    p = np.exp(scores[b, t]) * MASK[b]
    values.append(-np.log(p[r] / p.sum()))
  return np.mean(values)


def test_attention_loss_averages_over_pairs_and_skips_padding():
  found = gvd.attention_loss(
    tf.constant(SCORES), gvd.pairs(tf.constant(OVERLAP)), tf.constant(MASK)
  )
  np.testing.assert_allclose(found, attention_by_hand(SCORES), rtol=1e-4)


def test_grounding_scores_add_the_logit_of_the_words_class():
  found = gvd.grounding_scores(*map(tf.constant, (CLASS_LOGITS, CLASSES, SCORES))).numpy()
  for b, t, r in np.ndindex(2, 3, 4):
    expected = CLASS_LOGITS[b, r, CLASSES[b, t]] + SCORES[b, t, r]
    np.testing.assert_allclose(found[b, t, r], expected, rtol=1e-5)


def test_classification_loss_matches_a_restatement_with_loops():
  values = []
  for b, t, r in np.argwhere(POSITIVE):
    p = np.exp(CLASS_LOGITS[b, r])
    values.append(-np.log(p[CLASSES[b, t]] / p.sum()))
  found = gvd.classification_loss(*map(tf.constant, (CLASS_LOGITS, CLASSES, POSITIVE)))
  np.testing.assert_allclose(found, np.mean(values), rtol=1e-4)


def test_gradients_agree_with_differences():
  positive, mask = tf.constant(POSITIVE), tf.constant(MASK)
  numeric.check_gradient(lambda x: gvd.attention_loss(x, positive, mask), SCORES)
  classes = tf.constant(CLASSES)
  numeric.check_gradient(lambda x: gvd.classification_loss(x, classes, positive), CLASS_LOGITS)


def test_no_pair_gives_zero_and_no_nan():
  none, mask = tf.zeros([2, 3, 4], tf.bool), tf.constant(MASK)
  scores, logits = tf.Variable(SCORES), tf.Variable(CLASS_LOGITS)
  with tf.GradientTape() as tape:
    total = gvd.attention_loss(scores, none, mask)
    total += gvd.classification_loss(logits, tf.constant(CLASSES), none)
  assert float(total) == 0.0
  for gradient in tape.gradient(total, [scores, logits]):
    assert not np.isnan(gradient).any()


def test_a_words_softmax_is_over_its_annotated_frames():
  """By hand: scores 1 and 2 in the frame of the box; 9 in another frame does not matter."""
  scores = tf.constant([[[1.0, 2.0, 9.0]]])
  positive = tf.constant([[[True, False, False]]])
  allowed = tf.constant([[[True, True, False]]])
  expected = -(1 - np.log(np.exp(1) + np.exp(2)))
  np.testing.assert_allclose(gvd.attention_loss(scores, positive, allowed), expected, rtol=1e-5)
