"""Splits captions into words; the same rules run in Python and in a TensorFlow graph.

    caption     lower case, Penn Treebank splitting, punctuation dropped: as
                COCO's evaluation does (Stanford PTBTokenizer and a punctuation list)
    treebank    lower case, Penn Treebank splitting, punctuation kept: NLTK's
                `word_tokenize(caption.lower())`, as SCAN and its successors use
    whitespace  lower case, split at white space

A style is a table of (pattern, replacement) applied in order to the lower-case text
between blanks; blanks then separate the words. The patterns use only what Python's `re`
and RE2 read in the same way: no look-around, no \\s, \\w or \\b, no back-references.
`graph_tokenizer` applies the same tables to tensors.

Departure: brackets are dropped, which COCO's list intends but leaves as "-lrb-" because it
looks for capitals; so are "!!" and "?!". What PTBTokenizer cannot read,
such as emoji, stays, each emoji a word.
"""

import functools
import re
from typing import Literal

from gcap_tf import errors

Style = Literal["caption", "treebank", "whitespace"]
Rule = tuple[str, str]

# Every rule sees words separated by at least two blanks, so that matches on neighbouring
# words may each take the blank on their own side.
BLANK = "  "
_SPACES: Rule = (
  "[\x00\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+",
  BLANK,
)

# Marks, from the private use area, for a period or an apostrophe that belongs to its word.
_PERIOD = "\ue000"
_APOSTROPHE = "\ue001"
_MARKS: Rule = ("[\ue000\ue001]", BLANK)
_UNMARK: tuple[Rule, ...] = ((_PERIOD, "."), (_APOSTROPHE, "'"))

_ABBREVIATIONS = (
  "adm|apr|aug|ave|blvd|brig|bros|calif|capt|co|corp|dec|dr|drs|etc|feb|ft|gen|gov|hwy|inc|jan|"
  "jr|lt|ltd|maj|messrs|mfg|mr|mrs|ms|mt|nov|oct|ph\\.d|prof|rev|sept|sgt|sr|st|tenn|univ|vs"
)
# One emoji: a symbol, its variation and skin tone, and symbols joined by zero-width joiners.
_EMOJI_ONE = "[\U0001f300-\U0001faff\u2600-\u27bf][\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI: Rule = (
  f"([\U0001f1e6-\U0001f1ff][\U0001f1e6-\U0001f1ff]?|{_EMOJI_ONE}(?:\u200d{_EMOJI_ONE})*)",
  rf"{BLANK}\1{BLANK}",
)
_CONTRACTIONS: tuple[Rule, ...] = (
  (" cannot ", "  can  not  "),
  (" (gon|wan)na ", r"  \1  na  "),
  (" gotta ", "  got  ta  "),
  (" (gim|lem)me ", r"  \1  me  "),
)

_CAPTION: tuple[Rule, ...] = (
  _MARKS,
  _SPACES,
  _EMOJI,
  ("&amp;", "&"),
  ("[‘’]", "'"),
  # Always dropped: quotes, brackets, dashes, and marks that end or divide sentences.
  ("[\"`“”„«»()\\[\\]{};!?—–…]|''+|--+|\\.\\.+|,,+", BLANK),
  # Commas and colons, except those in 10,000 and 5:30.
  ("([^0-9])[,:]+", rf"\1{BLANK}"),
  ("[,:]+([^0-9])", rf"{BLANK}\1"),
  ("(:[0-9]+)([ap]m) ", r"\1  \2  "),
  # The period at a word's end, except that of initials (u.s.) and abbreviations (mr.).
  (f"( (?:(?:[a-z]\\.)*[a-z]|{_ABBREVIATIONS}))\\. ", rf"\1{_PERIOD}{BLANK}"),
  ("\\.('* )", r"\1"),
  (" \\.([^0-9])", r"  \1"),
  # Symbols that stand alone.
  ("([$%£€=<>©®™*~^|])", r"  \1  "),
  ("#([0-9])", r"#  \1"),
  ("([^+])\\+([^+])", r"\1  +  \2"),
  # Apostrophes: those of clitics stay, those that quote go.
  ("([a-z])n't ", rf"\1  n{_APOSTROPHE}t  "),
  ("'(s|m|d|re|ve|ll)(-| )", rf"  {_APOSTROPHE}\1  \2"),
  ("'n'", rf"  {_APOSTROPHE}n{_APOSTROPHE}  "),
  (" y'all ", f"  y{_APOSTROPHE}  all  "),
  (" '(em|til|cause|round|[0-9][0-9]s?) ", rf"  {_APOSTROPHE}\1  "),
  ("([0-9])'([0-9])", r"\1  \2"),
  (" '+", BLANK),
  ("'+ ", BLANK),
  # Hyphens, except those within a word (t-shirt).
  (" -+", BLANK),
  ("-+ ", BLANK),
  *_CONTRACTIONS,
  *_UNMARK,
)

_TREEBANK: tuple[Rule, ...] = (
  _MARKS,
  _SPACES,
  # A double quote opens after a blank or a bracket, and closes elsewhere.
  ("([ (\\[{<])(?:\"|'')", r"\1  ``  "),
  ("([«“‘„»”’]|`+)", r"  \1  "),
  ("(?:\"|'')", "  ''  "),
  # A period right before these ends no sentence: "inc., which".
  ("([^. ])\\.([,#$%&<])", rf"\1{_PERIOD}\2"),
  # Commas and colons, except those in 10,000 and 5:30.
  ("([,:])([^0-9])", r"  \1  \2"),
  ("(\\.\\.+)", r"  \1  "),
  ("([;@#$%&?!*()\\[\\]{}<>])", r"  \1  "),
  # Within the text a period ends a sentence, except that of initials and abbreviations.
  (f"( (?:(?:[a-z]\\.)*[a-z]|{_ABBREVIATIONS}))\\. ", rf"\1{_PERIOD}{BLANK}"),
  (f"{_PERIOD}((?: |''|[)\\]}}>»”’])*)$", r"  .\1"),
  ("([^. ])\\. ", r"\1  .  "),
  ("(--)", r"  \1  "),
  ("n't ", "  n't  "),
  ("([^' ])('(?:s|m|d|re|ve|ll)? )", r"\1  \2"),
  (" '(s|m|d|n|t|re|ve|ll) ", rf" {_APOSTROPHE}\1 "),
  (" '([0-9a-z])", r"  '  \1"),
  *_CONTRACTIONS,
  (" d'ye ", "  d  'ye  "),
  (" more'n ", "  more  'n  "),
  *_UNMARK,
)

RULES: dict[Style, tuple[Rule, ...]] = {
  "caption": _CAPTION,
  "treebank": _TREEBANK,
  "whitespace": (_SPACES,),
}


def rules(style: Style) -> tuple[Rule, ...]:
  """The table of a style."""
  if style not in RULES:
    raise errors.UserError(f'unknown tokenizer style "{style}"; known: {", ".join(RULES)}')
  return RULES[style]


@functools.cache
def _compiled(style: Style) -> tuple[tuple[re.Pattern[str], str], ...]:
  return tuple((re.compile(pattern), replacement) for pattern, replacement in rules(style))


@functools.lru_cache(maxsize=100_000)
def _words_of_chunk(chunk: str, style: Style) -> tuple[str, ...]:
  return tuple(_apply(chunk, style))


def _apply(text: str, style: Style) -> list[str]:
  text = f"{BLANK}{text.lower()}{BLANK}"
  for pattern, replacement in _compiled(style):
    text = pattern.sub(replacement, text)
  return [word for word in text.split(" ") if word]


def tokenize(text: str, style: Style = "caption") -> list[str]:
  """The words of a caption, lower-case.

  >>> tokenize("A man's dog doesn't bark, at 5:30.")
  ['a', 'man', "'s", 'dog', 'does', "n't", 'bark', 'at', '5:30']
  """
  if style != "caption":
    return _apply(text, style)
  # No rule of this style looks past a blank, and captions repeat their words.
  return [word for chunk in text.split() for word in _words_of_chunk(chunk, style)]
