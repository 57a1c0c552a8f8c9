"""How to turn a captioner's distributions into captions."""

import dataclasses
from typing import Literal

Method = Literal["greedy", "beam", "sample"]


@dataclasses.dataclass(frozen=True)
class DecodeConfig:
  """Options of all three methods; a method ignores those of the others.

  Attributes:
    method: which words are taken.
    max_length: words of a caption at most.
    min_length: words of a caption at least.
    unknown: UNK may be emitted; costs 1000 nats ("suppress", as official beam search does);
      or gives way to the next best word ("second_best", as GVD's greedy decoding does).
    beam_size: N.
    length_penalty: of finished beams: none, Wu et al.'s p / ((5 + L)^α / 6^α), or p / L.
    length_alpha: α of "wu".
    samples: captions drawn per picture.
    temperature: logits are divided by it before a draw.
    decoding_constraint: forbids a word right after itself.
    block_trigrams: halves twice the chance of a word that would repeat a trigram, for every
      time that the trigram was there.
    bad_endings: ids of words that a caption must not end with.
    details: False gives `tokens` and `length` alone, for less work; not of beam search.
  """

  method: Method = "greedy"
  max_length: int = 20
  min_length: int = 0
  unknown: Literal["allow", "suppress", "second_best"] = "allow"
  beam_size: int = 3
  length_penalty: Literal["none", "wu", "average"] = "none"
  length_alpha: float = 0.0
  samples: int = 1
  temperature: float = 1.0
  decoding_constraint: bool = False
  block_trigrams: bool = False
  bad_endings: tuple[int, ...] = ()
  details: bool = True
