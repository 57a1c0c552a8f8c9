"""Losses that cyclical training adds to the caption's loss (Ma et al., ECCV 2020,
arXiv:1906.00283).

    L_r = - (1/|Ω|) Σ_Ω log p(y*_t | y*_1:t-1)          reconstruction loss (Eq. 8)
    L_c =   (1/|Ω|) Σ_Ω KL(β_t || α_t)                  attention consistency (Table 4)

p is the decoder's probability given the regions that the localiser finds for its words; β is
the localiser's attention (a constant for gradients), α the decoder's. Each loss is a mean over
Ω, the words of the batch that count: all of them, or nouns and verbs only ("zero loss").
"""

from typing import Literal

import tensorflow as tf

from gcap_tf.losses import distillation


def kept_words(
  token_mask: tf.Tensor, content_mask: tf.Tensor, which: Literal["all", "nouns"]
) -> tf.Tensor:
  """Ω: words that count, bool [B, T]: all, or nouns and verbs only."""
  return token_mask & content_mask if which == "nouns" else token_mask


def consistency(localized: tf.Tensor, attention: tf.Tensor, word_mask: tf.Tensor) -> tf.Tensor:
  """L_c: the mean over Ω of KL(β || α).

  Args:
    localized: β, [B, T, R].
    attention: α, [B, T, R].
    word_mask: Ω, bool [B, T].

  Returns:
    Scalar float32; 0 if Ω is empty.
  """
  return distillation.attention_kl(tf.stop_gradient(localized), attention, word_mask)
