"""The rules of decoding that users get by default, and that parity runs switch off.

A caption for a user has no UNK, no word twice in a row or on both sides of "and", no repeated
n-gram, no repeated noun or verb (`repeats`), no noun right after "is" or "are", and does not end
with a word such as "a" or "with". Training, its validation and comparisons with released programs
decode without these rules.
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal

from gcap_tf import config as configs
from gcap_tf.decoding import config as decode_config
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.text import word_classes

RepeatWords = Literal["never", "apart", "allow"]
DETERMINERS = (
  *("a", "an", "the", "this", "that", "these", "those", "his", "her", "their", "its"),
  *("another", "other", "some", "each", "every", "both"),
)
# A caption that ends with one of these is cut off, too.
CUT_OFF = (
  *("of", "with", "in", "on", "at", "to", "for", "from", "by", "into", "onto", "through", "near"),
  *("behind", "between", "beside", "against", "and", "or", "while", "as", "is", "are"),
  *("holding", "wearing", "riding", "carrying", "using", "throwing", "making", "taking", "having"),
)


@dataclasses.dataclass(frozen=True)
class UserRules:
  """Which rules captions for users follow.

  Attributes:
    no_repeat_ngram: n; no n-gram occurs twice. 0 allows it, and a word twice in a row.
    repeat_words: "never" says a noun or verb once; "apart" says it again after a word that tells
      the two apart ("another man", "a blue shirt"); "allow" has no rule.
    end_below: a caption ends in place of a repeat if the best other word is less probable.
    cut_off: whether a caption may end in the middle of a phrase ("in a", "in a white").
  """

  no_repeat_ngram: configs.Count = 3
  repeat_words: RepeatWords = "never"
  end_below: configs.Fraction = 0.1
  cut_off: bool = False

  def apply(
    self,
    config: decode_config.DecodeConfig,
    vocabulary: vocabularies.Vocabulary,
    classes: word_classes.WordClasses,
  ) -> decode_config.DecodeConfig:
    """`config` with the rules, for the words of a run."""
    unknown = config.unknown
    if unknown == "allow" and vocabulary.words[-1] == vocabularies.CAPTIONER_UNKNOWN:
      unknown = "second_best"

    def ids(words: Sequence[str]) -> tuple[int, ...]:
      return tuple(vocabulary.ids[word] for word in words if word in vocabulary.ids)

    # "is climbing" and "are all" are no names, whatever the tagger says.
    bare_nouns = tuple(
      vocabulary.ids[word]
      for word in classes.nouns
      if word in vocabulary.ids and not word.endswith(("ing", "ed"))
    )
    return dataclasses.replace(
      config,
      unknown=unknown,
      decoding_constraint=self.no_repeat_ngram > 0,
      joins=ids(("and", "or")) if self.no_repeat_ngram else (),
      no_repeat_ngram=self.no_repeat_ngram,
      word_groups=() if self.repeat_words == "allow" else classes.groups(vocabulary),
      told_apart=self.repeat_words == "apart",
      modifiers=classes.modifier_ids(vocabulary),
      bad_endings=() if self.cut_off else ids(CUT_OFF),
      end_below=0.0 if self.repeat_words == "allow" else self.end_below,
      links=() if self.cut_off else ids(("is", "are")),
      bare_nouns=() if self.cut_off else bare_nouns,
      determiners=() if self.cut_off else ids(DETERMINERS),
    )
