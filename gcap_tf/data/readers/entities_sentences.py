"""The sentence mark-up of Flickr30k Entities (Plummer et al., ICCV 2015, arXiv:1505.04870).

A sentence is white-space separated words in which entity mentions are bracketed:

    [/EN#7/people A tall woman] holds [/EN#8/animals/people a puppet] .

The number names the coreference chain, shared by the five captions of a picture; chain
0 is not visible. A mention has one or more types.
"""

import dataclasses
import functools
import re

from gcap_tf import errors
from gcap_tf.text import tokenizer

_MENTION = re.compile(r"\[/EN#(\d+)/([^\s\[\]]+)\s+([^\[\]]*)\]")
_PIECE = re.compile(rf"{_MENTION.pattern}|([^\[\]]+)")
_KINDS = re.compile(r"^[^/]+(/[^/]+)*$")


@dataclasses.dataclass(frozen=True)
class Mention:
  """A bracketed run of words, tokens[start:end]; never empty.

  Attributes:
    chain: the coreference chain, "0" if it is not visible.
    kinds: its types, such as ("people",).
    start: first token.
    end: one past the last token.
  """

  chain: str
  kinds: tuple[str, ...]
  start: int
  end: int


@dataclasses.dataclass(frozen=True)
class Sentence:
  """A caption without its mark-up.

  Attributes:
    text: the words as distributed.
    tokens: lower-case words without punctuation.
    mentions: in order; those of punctuation alone have no token and are left out.
    empty_mentions: how many were left out.
  """

  text: str
  tokens: tuple[str, ...]
  mentions: tuple[Mention, ...]
  empty_mentions: int = 0


def parse(line: str, where: str) -> Sentence:
  """Parses one marked-up caption.

  Args:
    line: the caption as distributed.
    where: file and line, for errors.

  Raises:
    UserError: unbalanced brackets, a malformed mention, or no words at all.
  """
  tokens, texts, mentions = [], [], []
  position = empty = 0
  while position < len(line):
    piece = _PIECE.match(line, position)
    if piece is None:
      raise errors.UserError(_complaint(line, position, where))
    chain, kinds, mention, plain = piece.groups()
    words = plain if chain is None else mention
    start = len(tokens)
    tokens.extend(tokens_of(words))
    texts.append(words)
    if chain is not None:
      if not mention.strip() or not _KINDS.match(kinds):
        raise errors.UserError(_complaint(line, position, where))
      if len(tokens) > start:
        mentions.append(Mention(chain, tuple(kinds.split("/")), start, len(tokens)))
      else:
        empty += 1
    position = piece.end()
  if not tokens:
    raise errors.UserError(f"{where}: no words in caption {line.strip()!r}; correct it")
  return Sentence("".join(texts).strip(), tuple(tokens), tuple(mentions), empty)


@functools.lru_cache(maxsize=1 << 17)
def tokens_of(words: str) -> tuple[str, ...]:
  """The tokens of white-space words: each word has none (punctuation), one, or several."""
  return tuple(token for word in words.split() for token in tokenizer.tokenize(word, "caption"))


def _complaint(line: str, position: int, where: str) -> str:
  rest = line[position:]
  shown = rest if len(rest) <= 40 else f"{rest[:40]}..."
  closing, opening = rest.find("]"), rest.find("[", 1)
  if rest.startswith("]") or closing < 0 or 0 <= opening < closing:
    return (
      f"{where}: unbalanced bracket at column {position + 1} ({shown!r}); "
      "mentions are not nested and each [ needs its ]"
    )
  return (
    f"{where}: malformed mention at column {position + 1} ({shown!r}); "
    "expected [/EN#chain/type words]"
  )
