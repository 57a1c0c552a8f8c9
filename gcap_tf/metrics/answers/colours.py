"""Whether a caption gives things the colours that people give them.

    named(c)    pairs (thing, colour) of a caption: a colour before the word of a thing, in the
                same phrase: "a black and white dog" gives (dog, black) and (dog, white)
    judged      pairs whose thing has a colour in some reference of the picture
    right       judged pairs that a reference of the picture has, too
    accuracy    right / judged

Things are object classes, so "boy" is judged by what references call boys. Two things of one
class share their colours: a red ball and a blue one make both colours right.
"""

from collections.abc import Iterable, Sequence

from gcap_tf.text import colour_words, object_words

_BETWEEN = 3  # Words that may stand between a colour and its thing ("blue and white striped").
_ENDS = frozenset(
  (
    *("a", "an", "the", "his", "her", "their", "its", "this", "that", "these", "those", "is"),
    *("are", "in", "on", "of", "with", "at", "by", "to", "for", "from", "while", "near"),
  )
)

Pair = tuple[str, str]


def named(words: Sequence[str], classes: object_words.ObjectClasses) -> set[Pair]:
  """The pairs (thing, colour) of a caption.

  Args:
    words: the caption, in lower case.
    classes: the things.
  """
  found = set()
  for position, word in enumerate(words):
    colour = colour_words.of(word)
    if colour is None:
      continue
    for following in words[position + 1 : position + 2 + _BETWEEN]:
      if following in _ENDS:
        break
      thing = None if colour_words.of(following) else classes.of(following)
      if thing is not None:
        found.add((thing, colour))
        break
  return found


def score(
  captions: Iterable[Sequence[str]],
  references: Iterable[Sequence[Sequence[str]]],
  classes: object_words.ObjectClasses,
) -> dict[str, float]:
  """How many colours captions name, how many can be judged, and the share that is right.

  Args:
    captions: words of one caption of each picture.
    references: words of all references of each picture.
    classes: the things.

  Returns:
    `colours_named` and `colours_judged`, counts; `colour_accuracy` if any can be judged.
  """
  pairs = judged = right = 0
  for caption, others in zip(captions, references, strict=True):
    truth = set().union(*(named(words, classes) for words in others))
    coloured = {thing for thing, _ in truth}
    own = named(caption, classes)
    known = {pair for pair in own if pair[0] in coloured}
    pairs, judged, right = pairs + len(own), judged + len(known), right + len(known & truth)
  found = {"colours_named": pairs, "colours_judged": judged}
  return found | {"colour_accuracy": right / judged} if judged else found
