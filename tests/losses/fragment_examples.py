"""Attended fragments of the golden inputs and of random ones."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import cross_attention
from tests.layers import golden


def t2i(v, e, mask, ids=None, sharpness=9.0):
  """Words of caption p looking at the regions of picture p."""
  regions = cross_attention.Fragments(tf.convert_to_tensor(v), tf.ones(v.shape[:2], tf.bool))
  words = cross_attention.Fragments(tf.convert_to_tensor(e), tf.constant(mask))
  pairs = cross_attention.matched_pairs(regions, words)
  ids = np.arange(mask.size).reshape(mask.shape) if ids is None else ids
  energies = cross_attention.energies(pairs, "clipped_l2norm", sharpness)
  return cross_attention.attended_fragments(
    pairs, energies, tf.constant(mask), tf.constant(ids, tf.int32)
  )


def golden_t2i():
  return t2i(*golden.inputs())


def loop_cosine(x, y):
  return x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), 1e-8)
