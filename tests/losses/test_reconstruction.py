import numpy as np
import tensorflow as tf

from gcap_tf.losses import reconstruction
from tests.losses import numeric

RNG = np.random.default_rng(0)
BETA = RNG.dirichlet(np.ones(4), size=(1, 3)).astype(np.float32)
ALPHA = RNG.dirichlet(np.ones(4), size=(1, 3)).astype(np.float32)
MASK = np.array([[True, True, False]])


def test_consistency_is_kl_of_the_localiser_against_the_attention():
  expected = np.mean([(BETA[0, t] * np.log(BETA[0, t] / ALPHA[0, t])).sum() for t in (0, 1)])
  found = reconstruction.consistency(*map(tf.constant, (BETA, ALPHA, MASK)))
  np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_localiser_gets_no_gradient_and_the_attention_does():
  beta = tf.Variable(BETA)
  with tf.GradientTape() as tape:
    loss = reconstruction.consistency(beta, tf.constant(ALPHA), tf.constant(MASK))
  assert tape.gradient(loss, beta) is None
  numeric.check_gradient(
    lambda x: reconstruction.consistency(tf.constant(BETA), tf.nn.softmax(x), tf.constant(MASK)),
    np.log(ALPHA),
  )


def test_no_word_gives_zero():
  none = tf.zeros([1, 3], tf.bool)
  assert float(reconstruction.consistency(tf.constant(BETA), tf.constant(ALPHA), none)) == 0.0


def test_words_are_kept_as_asked():
  tokens, content = tf.constant([[True, True, False]]), tf.constant([[True, False, True]])
  kept = [
    reconstruction.kept_words(tokens, content, which).numpy().tolist() for which in ("all", "nouns")
  ]
  assert kept == [[[True, True, False]], [[True, False, False]]]
