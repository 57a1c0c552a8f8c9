"""Matrix products that stay one product."""

import tensorflow as tf


def flat_matmul(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
  """x [..., K] times kernel [K, N]: [..., N].

  tf.matmul would run one small product for every leading index, and its gradient would
  form one kernel-sized tensor for each of them before adding them up.
  """
  inputs, outputs = kernel.shape
  y = tf.matmul(tf.reshape(x, [-1, inputs]), kernel)
  return tf.reshape(y, tf.concat([tf.shape(x)[:-1], [outputs]], 0))
