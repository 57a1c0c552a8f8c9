"""POS-SCAN: SCAN that scores nouns only (Zhou et al., CVPR 2020, arXiv:2004.00390).

    S_pos(I, T) = sum_t [y_t is a noun] R(e_t, a_t) / sum_t [y_t is a noun]      (Eq. 8)

The text encoder reads the whole sentence. The score of a sentence without nouns uses all
its tokens, <start> and <end> included.
"""

import dataclasses
from typing import Literal

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import text_encoder
from gcap_tf.matchers import base, scan

UNIVERSAL_TAGS = frozenset({
  *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
  *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
})  # fmt: skip


@dataclasses.dataclass(frozen=True)
class POSSCANConfig(scan.SCANConfig):
  """Options of POS-SCAN.

  Attributes:
    tags: universal parts of speech of the scored words; adjectives or verbs can be added
      to the nouns.
    norm_scope: words that the normalisation of affinities runs over. Departure: the paper
      normalises over all words ("all"), the released code over nouns ("nouns").
  """

  tags: tuple[str, ...] = ("NOUN", "PROPN")
  norm_scope: Literal["nouns", "all"] = "nouns"

  def __post_init__(self):
    unknown = [tag for tag in self.tags if tag not in UNIVERSAL_TAGS]
    if unknown or not self.tags:
      raise errors.UserError(
        f"tags are {list(self.tags)}; choose from {', '.join(sorted(UNIVERSAL_TAGS))}"
      )


@base.MATCHERS.register("pos_scan")
@keras.saving.register_keras_serializable(package="gcap_tf")
class POSSCANMatcher(scan.SCANMatcher):
  """SCAN whose attention rows are 0 for words that are not nouns."""

  Config = POSSCANConfig

  @property
  def noun_tags(self) -> tuple[str, ...]:
    return self.config.tags

  def make_text_encoder(self) -> text_encoder.TextEncoder:
    config = self.config
    return text_encoder.TextEncoder(
      config.vocabulary_size,
      config.word_size,
      config.joint_size,
      config.bidirectional,
      config.normalise_words,
      frozen_padding=True,
    )

  def word_scope(self, captions: base.Captions) -> tf.Tensor:
    if self.config.norm_scope == "all":
      return captions["word_mask"]
    return self.scored_words(captions)

  def scored_words(self, captions: base.Captions) -> tf.Tensor:
    """Nouns, or all tokens of a caption without nouns: bool [C, T]."""
    nouns = captions["noun_mask"] & captions["word_mask"]
    has_noun = tf.reduce_any(nouns, -1, keepdims=True)
    return tf.where(has_noun, nouns, captions["word_mask"])
