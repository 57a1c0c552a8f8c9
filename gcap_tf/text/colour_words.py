"""The colours that regions, phrases and captions are judged by."""

COLOURS = (
  *("black", "white", "red", "green", "blue", "yellow"),
  *("orange", "brown", "purple", "pink", "gray"),
)
_SPELLED = {"grey": "gray"}


def of(word: str) -> str | None:
  """The colour that a word names, in one spelling; None if it names none of them."""
  colour = _SPELLED.get(word, word)
  return colour if colour in COLOURS else None
