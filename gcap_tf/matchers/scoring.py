"""A matcher as teacher and as reward: scores and attention of matched pairs."""

import tensorflow as tf

from gcap_tf.matchers import base


def score_pairs(matcher: base.Matcher, batch: base.Batch) -> dict[str, tf.Tensor]:
  """Scores every caption of a batch on its own picture.

  Args:
    matcher: any matcher; its weights and statistics do not change, and dropout is off.
    batch: I pictures and B captions, picture-major, in the matcher's own vocabulary.

  Returns:
    `similarity` [B], and `attention` [B, T, R] if the matcher attends.
  """
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  count = tf.shape(batch["tokens"])[0]
  pictures = base.own_pictures(tf.shape(images["region_mask"])[0], count)
  scores = {"similarity": matcher.pair_similarity(images, captions, pictures, tf.range(count))}
  if matcher.attends:
    scores["attention"] = matcher.attention(base.take(images, pictures), captions)
  return scores
