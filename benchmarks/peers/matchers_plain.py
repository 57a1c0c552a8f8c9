"""The matchers in plain TensorFlow: one caption at a time, with explicit context vectors.

The released programs work in this order; this restatement in TensorFlow is 1.4 to 2.7 times
slower than they are. It uses the encoders and weights of the library and gives the same
scores, without its Gram matrices, blocks and sparse gradients.
"""

import tensorflow as tf

from gcap_tf.layers import normalize
from gcap_tf.losses import ranking
from gcap_tf.matchers import attention, base, bfan, scan, sgraf


def similarity(
  matcher: attention.AttentionMatcher, images: base.Images, captions: base.Captions
) -> tf.Tensor:
  """Returns the scores [I, C], computed one column at a time."""
  score = {
    scan.SCANMatcher: _scan,
    bfan.BFANMatcher: _bfan,
    sgraf.SGRAFMatcher: _sgraf,
  }[type(matcher)]
  lengths = tf.reduce_sum(tf.cast(captions["word_mask"], tf.int32), 1).numpy()
  columns = []
  for index, length in enumerate(lengths):
    caption = {name: tensor[index : index + 1] for name, tensor in captions.items()}
    for name in base.PER_WORD:
      caption[name] = caption[name][:, :length]
    columns.append(score(matcher, images, caption))
  return tf.stack(columns, 1)


def training_loss(matcher: attention.AttentionMatcher, batch: base.Batch, seed: tf.Tensor):
  """Returns the ranking loss, with all scores on the tape."""
  images, captions = matcher.encode_images(batch, seed), matcher.encode_captions(batch, seed)
  scores = similarity(matcher, images, captions)
  return ranking.triplet(scores, tf.range(tf.shape(scores)[1]))


def _attend(queries: tf.Tensor, keys: tf.Tensor, sharpness: float) -> tf.Tensor:
  """Returns the weights [I, M, N] of queries [I, M, J] on keys [I, N, J]."""
  s = normalize.lrelu(tf.matmul(queries, keys, transpose_b=True))
  return tf.nn.softmax(sharpness * normalize.l2n(s, axis=1))


def _cosine(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  """Cosine of rows [I, M, J]; einsum keeps no third tensor of that size on the tape."""
  dot, x_square, y_square = (
    tf.einsum("imj,imj->im", a, b) for a, b in ((x, y), (x, x), (y, y))
  )  # fmt: skip
  return normalize.cosine_of_products(dot, x_square, y_square)


def _pictures_and_caption(images, caption):
  regions = images["regions"]
  words = tf.repeat(caption["words"], tf.shape(regions)[0], axis=0)
  return regions, words


def _scan(matcher, images, caption):
  regions, words = _pictures_and_caption(images, caption)
  context = tf.matmul(_attend(words, regions, 9.0), regions)  # [I, L, J]
  return tf.reduce_mean(_cosine(words, context), 1)


def _bfan(matcher, images, caption):
  regions, words = _pictures_and_caption(images, caption)
  total = 0.0
  for queries, keys in ((words, regions), (regions, words)):
    x = _attend(queries, keys, matcher.config.lambda_softmax)
    fixed = tf.stop_gradient(x)  # The choice of relevant regions has no gradient.
    weight = tf.sqrt(fixed) if matcher.config.focus == "prob" else tf.ones_like(fixed)
    difference = fixed[..., :, None] - fixed[..., None, :]  # [I, M, N, N]
    relevant = tf.reduce_sum(difference * weight[..., None, :], -1) > 0
    kept = tf.where(relevant, x, tf.zeros_like(x))
    kept = tf.math.divide_no_nan(kept, tf.reduce_sum(kept, -1, keepdims=True))
    context = tf.matmul(kept, keys)
    total += tf.reduce_mean(_cosine(queries, context), 1)
  return total


def _sgraf(matcher, images, caption):
  regions, words = _pictures_and_caption(images, caption)
  context = normalize.l2n(tf.matmul(_attend(words, regions, 9.0), regions))
  local = matcher.local_projection(tf.square(context - words))  # [I, L, S]
  overall = matcher.global_projection(
    tf.square(images["picture_vector"] - caption["caption_vector"])
  )
  x = normalize.l2n(tf.concat([overall[:, None], local], 1))
  if matcher.config.head == "SGR":
    for step in matcher.head.steps:
      edges = tf.matmul(step.query(x), tf.matmul(x, step.key_kernel), transpose_b=True)
      x = tf.nn.relu(step.update(tf.matmul(tf.nn.softmax(edges), x)))
    z = x[:, 0]
  else:
    mask = tf.ones([1, tf.shape(x)[1]], tf.bool)
    z = matcher.head(x[:, None], mask, training=False)[:, 0]
  return tf.sigmoid(matcher.readout(z))[:, 0]
