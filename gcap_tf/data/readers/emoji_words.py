"""Words of captions from social media: letters and emoji, nothing else.

As for InstaPIC-1.1M in Contrastive Learning for Image Captioning (Dai and Lin, NIPS 2017,
arXiv:1710.02534): lower case, everything except letters and emoji removed.
"""

import re
import unicodedata

_SYMBOL = (
  "[\U0001f000-\U0001faff\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
  "\u00a9\u00ae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299]"
)
_MODIFIER = "[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_KEYCAP = "[0-9#*]\ufe0f?\u20e3"
_EMOJI = re.compile(f"({_FLAG}|{_KEYCAP}|{_SYMBOL}{_MODIFIER}(?:\u200d{_SYMBOL}{_MODIFIER})*)")
_ASCII_OTHER = re.compile(r"[^a-z ]")
# Selects the coloured form of a character; the word is the same with or without it.
_PRESENTATION = "\ufe0f"


def tokenize(text: str) -> list[str]:
  """Splits a caption at white space and around emoji; "Don't! 😀😀" is dont 😀 😀."""
  words: list[str] = []
  for index, piece in enumerate(_EMOJI.split(unicodedata.normalize("NFC", text))):
    if index % 2:
      words.append(piece.replace(_PRESENTATION, ""))
    else:
      words.extend(filter(None, map(_letters, piece.lower().split())))
  return words


def _letters(word: str) -> str:
  if word.isascii():
    return _ASCII_OTHER.sub("", word)
  # Marks are vowels in some scripts; they stay with the letters that carry them.
  kept = "".join(letter for letter in word if unicodedata.category(letter)[0] in "LM")
  return kept.strip("\u200d\ufe0f") if any(letter.isalpha() for letter in kept) else ""
