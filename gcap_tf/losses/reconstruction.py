"""Losses of cyclical training beside the caption's own (Ma et al., ECCV 2020,
arXiv:1906.00283).

    L_r  cross entropy of the caption rebuilt from what its words point at
    L_c  KL(β || α) between the localiser's attention β, taken as constant, and the decoder's α

L_r may be kept to nouns and verbs ("zero loss"); it is then averaged over those kept.
"""

from typing import Literal

import tensorflow as tf

from gcap_tf.losses import distillation


def kept_words(
  token_mask: tf.Tensor, content_mask: tf.Tensor, which: Literal["all", "nouns"]
) -> tf.Tensor:
  """Words that count, bool [B, T]: all, or nouns and verbs only."""
  return token_mask & content_mask if which == "nouns" else token_mask


def consistency(localized: tf.Tensor, attention: tf.Tensor, word_mask: tf.Tensor) -> tf.Tensor:
  """L_c.

  Args:
    localized: β, [B, T, R].
    attention: α, [B, T, R].
    word_mask: bool [B, T].

  Returns:
    Scalar float32; 0 where the mask is empty.
  """
  return distillation.attention_kl(tf.stop_gradient(localized), attention, word_mask)
