"""Similarity vectors of all word-picture pairs (SGRAF, Diao et al., AAAI 2021, Sec. 3.2).

    y_it = W (a_it - e_t)^2 + b,    a_it = sum_r w_itr v_ir

This needs the J coordinates of a for every word and picture. They are computed for one
picture at a time and not kept; the gradient computes them again. Automatic differentiation
would keep about 1 GB of them for a batch of 128.
"""

import tensorflow as tf

from gcap_tf.layers import product


@tf.custom_gradient
def all_pairs(
  weights: tf.Tensor, regions: tf.Tensor, words: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor
):
  """y for every picture and word.

  Args:
    weights: w, [I, R, W] for W words of all captions.
    regions: v, [I, R, J].
    words: e, [W, J].
    kernel: W transposed, [J, S].
    bias: b, [S].

  Returns:
    y, [I, W, S].
  """

  def of_picture(picture):
    w, v = picture
    context = tf.matmul(w, v, transpose_a=True)  # [W, J]
    return tf.matmul(tf.math.squared_difference(context, words), kernel) + bias

  vectors = tf.map_fn(of_picture, (weights, regions), fn_output_signature=weights.dtype)

  def gradient(upstream):
    count = tf.shape(weights)[0]

    def step(i, d_words, d_kernel, d_weights, d_regions):
      w, v, dy = weights[i], regions[i], upstream[i]
      difference = tf.matmul(w, v, transpose_a=True) - words  # [W, J]
      d_kernel += tf.matmul(tf.square(difference), dy, transpose_a=True)
      d_context = 2 * difference * tf.matmul(dy, kernel, transpose_b=True)  # [W, J]
      d_weights = d_weights.write(i, tf.matmul(v, d_context, transpose_b=True))
      d_regions = d_regions.write(i, tf.matmul(w, d_context))
      return i + 1, d_words - d_context, d_kernel, d_weights, d_regions

    _, d_words, d_kernel, d_weights, d_regions = tf.while_loop(
      lambda i, *_: i < count,
      step,
      (
        0,
        tf.zeros_like(words),
        tf.zeros_like(kernel),
        tf.TensorArray(words.dtype, count, element_shape=weights.shape[1:]),
        tf.TensorArray(words.dtype, count, element_shape=regions.shape[1:]),
      ),
      parallel_iterations=1,
    )
    d_bias = tf.reduce_sum(upstream, [0, 1])
    return d_weights.stack(), d_regions.stack(), d_words, d_kernel, d_bias

  return vectors, gradient


def matched_pairs(
  weights: tf.Tensor, regions: tf.Tensor, words: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor
) -> tf.Tensor:
  """y for chosen pairs: weights [P, R, T], regions [P, R, J], words [P, T, J] to [P, T, S]."""
  context = tf.matmul(weights, regions, transpose_a=True)
  return product.flat_matmul(tf.math.squared_difference(context, words), kernel) + bias
