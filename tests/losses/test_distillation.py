import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import distillation
from tests.losses import numeric

RNG = np.random.default_rng(0)
TEACHER = RNG.dirichlet(np.ones(4), size=(2, 3)).astype(np.float32)
STUDENT = RNG.dirichlet(np.ones(4), size=(2, 3)).astype(np.float32)
NOUNS = np.array([[True, False, True], [False, True, True]])


def kl_by_hand(p, q, mask):
  total, words = 0.0, 0
  for b in range(2):
    for t in range(3):
      if mask[b, t]:
        for r in range(4):
          a, c = max(p[b, t, r], 1e-8), max(q[b, t, r], 1e-8)
          total += a * (np.log(a) - np.log(c))
        words += 1
  return total / words


def test_kl_is_teacher_against_student_averaged_over_nouns():
  found = distillation.loss("kl", *map(tf.constant, (TEACHER, STUDENT, NOUNS)))
  np.testing.assert_allclose(found, kl_by_hand(TEACHER, STUDENT, NOUNS), rtol=1e-4)


def test_reverse_swaps_the_two():
  found = distillation.loss("reverse", *map(tf.constant, (TEACHER, STUDENT, NOUNS)))
  np.testing.assert_allclose(found, kl_by_hand(STUDENT, TEACHER, NOUNS), rtol=1e-4)


def test_nll_asks_for_the_teachers_strongest_region():
  found = distillation.loss("nll", *map(tf.constant, (TEACHER, STUDENT, NOUNS)))
  expected = np.mean(
    [-np.log(STUDENT[b, t, TEACHER[b, t].argmax()]) for b, t in np.argwhere(NOUNS)]
  )
  np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_kl_of_one_against_a_half_is_ln_2():
  teacher, student = tf.constant([[[1.0, 0.0]]]), tf.constant([[[0.5, 0.5]]])
  found = distillation.loss("kl", teacher, student, tf.constant([[True]]))
  np.testing.assert_allclose(found, np.log(2.0), rtol=1e-5)


def test_zeros_are_held_above_the_floor():
  teacher, student = tf.constant([[[1.0, 0.0]]]), tf.constant([[[0.0, 1.0]]])
  found = distillation.loss("kl", teacher, student, tf.constant([[True]]))
  np.testing.assert_allclose(found, -np.log(1e-8), rtol=1e-4)


def test_nouns_that_the_teacher_does_not_attend_from_do_not_count():
  teacher = TEACHER.copy()
  teacher[0, 0] = 0.0
  mask = NOUNS.copy()
  mask[0, 0] = False
  found = distillation.loss("kl", *map(tf.constant, (teacher, STUDENT, NOUNS)))
  np.testing.assert_allclose(found, kl_by_hand(teacher, STUDENT, mask), rtol=1e-4)


@pytest.mark.parametrize("kind", ["kl", "reverse", "nll"])
def test_gradient_agrees_with_differences(kind):
  numeric.check_gradient(
    lambda x: distillation.loss(kind, tf.constant(TEACHER), tf.nn.softmax(x), tf.constant(NOUNS)),
    np.log(STUDENT),
  )


@pytest.mark.parametrize("kind", ["kl", "reverse", "nll"])
def test_no_noun_gives_zero_and_no_nan(kind):
  student = tf.Variable(STUDENT)
  with tf.GradientTape() as tape:
    loss = distillation.loss(kind, tf.constant(TEACHER), student, tf.zeros([2, 3], tf.bool))
  assert float(loss) == 0.0
  gradient = tape.gradient(loss, student)
  assert gradient is None or not np.isnan(tf.convert_to_tensor(gradient)).any()


def test_of_regions_alike_the_larger_is_preferred():
  teacher = tf.constant([[[0.5, 0.5, 0.0]], [[0.2, 0.8, 0.0]], [[0.0, 0.0, 0.0]]])
  boxes = tf.constant([[[0.0, 0.0, 0.4, 1.0], [0.0, 0.0, 0.1, 1.0], [0.0, 0.0, 1.0, 1.0]]])
  found = distillation.prefer_large(teacher, boxes, 0.5).numpy()
  np.testing.assert_allclose(found[0, 0], [2 / 3, 1 / 3, 0.0], rtol=1e-6)
  np.testing.assert_allclose(found[1, 0], [1 / 3, 2 / 3, 0.0], rtol=1e-6)
  np.testing.assert_allclose(found[2, 0], 0.0)
  same = distillation.prefer_large(teacher, boxes, 0.0).numpy()
  np.testing.assert_allclose(same, teacher, rtol=1e-6)
