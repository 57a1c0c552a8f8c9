"""Options of decoding: how a captioner's distributions become captions."""

import dataclasses
from typing import Literal

from gcap_tf import config as configs

Method = Literal["greedy", "beam", "sample"]


@dataclasses.dataclass(frozen=True)
class DecodeConfig:
  """Options of all three methods; a method ignores those of the others.

  Attributes:
    method: how words are chosen.
    max_length: the most words of a caption.
    min_length: the fewest words of a caption.
    unknown: whether UNK may be emitted: "allow"; "suppress" lowers it by 1000 nats, as official
      beam search does; "second_best" takes the next best word, as GVD's greedy decoding does.
    beam_size: N, beams of each picture.
    length_penalty: score of finished beams: none, Wu et al.'s p / ((5 + L)^α / 6^α), or p / L.
    length_alpha: α of "wu".
    samples: captions drawn per picture.
    temperature: logits are divided by it before a draw.
    decoding_constraint: forbids a word right after itself.
    joins: ids of words ("and", "or") that no word stands on both sides of.
    block_trigrams: divides the chance of a word that would repeat a trigram by four, once for
      every earlier occurrence of the trigram.
    bad_endings: ids of words that a caption must not end with.
    no_repeat_ngram: n; no n-gram occurs twice in a caption. 0 allows it.
    word_groups: groups of ids, the forms of one noun or verb each; a word of a group is not said
      after another one of it. () lets words repeat. See `repeats`.
    told_apart: lets a word of a group come again after a modifier that distinguishes the two.
    modifiers: ids of adjectives, numbers, "another", "other".
    determiners: ids of words that open a phrase ("a"); a caption does not end with one, or with a
      modifier after one or after another modifier ("in a", "in a white"). () lets it.
    links, bare_nouns: ids of words ("is", "are") that no word of `bare_nouns` follows directly.
    end_below: greedy decoding ends a caption in place of a repeat if the best other word has a
      lower probability; what `bad_endings` and `determiners` forbid at its end is dropped.
    details: False returns only `tokens` and `length`, which is faster; beam search ignores it.
  """

  method: Method = "greedy"
  max_length: configs.PositiveInt = 20
  min_length: configs.Count = 0
  unknown: Literal["allow", "suppress", "second_best"] = "allow"
  beam_size: configs.PositiveInt = 3
  length_penalty: Literal["none", "wu", "average"] = "none"
  length_alpha: configs.Weight = 0.0
  samples: configs.PositiveInt = 1
  temperature: configs.Positive = 1.0
  decoding_constraint: bool = False
  joins: tuple[configs.Count, ...] = ()
  block_trigrams: bool = False
  bad_endings: tuple[configs.Count, ...] = ()
  no_repeat_ngram: configs.Count = 0
  word_groups: tuple[tuple[configs.Count, ...], ...] = ()
  told_apart: bool = False
  modifiers: tuple[configs.Count, ...] = ()
  determiners: tuple[configs.Count, ...] = ()
  links: tuple[configs.Count, ...] = ()
  bare_nouns: tuple[configs.Count, ...] = ()
  end_below: configs.Fraction = 0.0
  details: bool = True
