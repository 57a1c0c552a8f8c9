"""The words of a vocabulary by what a caption does with them: nouns, verbs, things, modifiers.

    nouns      are not said twice in a caption (decoding/repeats.py)
    verbs      neither; every word that belongs to no other class and is no function word
    things     are marked as grounded, and have a box
    modifiers  tell two things of one name apart, and end no phrase: "blue", "two", "another"

The tagger needs a quarter of a minute for a vocabulary, so a run keeps the result in a file
(`runs.run_words`), and captioning needs no tagger.
"""

import dataclasses
from collections.abc import Collection

from gcap_tf import errors, files
from gcap_tf.text import lemmas, object_words, thing_words
from gcap_tf.text import vocabulary as vocabularies

_TELLING = ("another", "other", "others", "one", "second")
# The tagger reads some of them as adjectives or verbs if they stand in such a place.
_FUNCTION = """
a an the this that these those some any each every both all most no not of in on at by for from
to into onto over under above below behind beside besides near next with without within through
throughout across around between among amid amidst against along about after before during beyond
underneath inside outside opposite toward towards upon like unlike than up down out off away back
together as and or but nor so while when where if because though although until since he she it
they him her them his its their himself herself themselves who whom whose which what how is are
was were be being been am has have had having do does did doing can could will would may might
must there here very too also just almost only
"""
# Without a tagger: labels cut from phrases hold these too.
_PLAIN = """
one two three four five six seven eight nine ten many several few red blue green yellow white
black brown orange pink purple gray grey tan gold silver young old small large big little tall
long short other another same different standing sitting walking running playing holding wearing
looking riding talking
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
_PLAIN_WORDS = frozenset(_PLAIN.split())


@dataclasses.dataclass(frozen=True)
class WordClasses:
  """Words of each class, in the order of the vocabulary.

  Attributes:
    nouns: every word that may name something.
    verbs: full verbs, and words that are in no other class and no function words.
    things: words that answers mark as grounded.
    modifiers: adjectives, numbers, "another", "other".
  """

  nouns: tuple[str, ...]
  verbs: tuple[str, ...]
  things: tuple[str, ...]
  modifiers: tuple[str, ...]

  @classmethod
  def by_tagger(cls, vocabulary: vocabularies.Vocabulary) -> "WordClasses":
    """Asks the tagger; things are those of `thing_words.is_thing`."""
    is_thing = thing_words.is_thing(vocabulary)
    is_noun = [a or b for a, b in zip(thing_words.is_noun(vocabulary), is_thing, strict=True)]
    words = vocabulary.words
    nouns = _chosen(words, is_noun)
    modifiers = _chosen(
      words, thing_words.is_modifier(vocabulary), (*nouns, *FUNCTION_WORDS, *_TELLING)
    )
    rest = {*nouns, *modifiers, *FUNCTION_WORDS, *_TELLING}
    verbs = tuple(word for word in words if thing_words.is_word(word) and word not in rest)
    telling = tuple(word for word in words if word in _TELLING)
    return cls(nouns, verbs, _chosen(words, is_thing), (*telling, *modifiers))

  @classmethod
  def by_labels(cls, vocabulary: vocabularies.Vocabulary) -> "WordClasses":
    """Without a tagger: words that name a region label and are no function word."""
    if not vocabulary.labels:
      return cls((), (), (), ())
    classes = object_words.ObjectClasses(vocabulary.labels)
    named = tuple(
      word
      for word in vocabulary.words
      if thing_words.is_word(word)
      and not {word, lemmas.lemma(word)} & {*FUNCTION_WORDS, *_PLAIN_WORDS}
      and classes.of(word) is not None
    )
    telling = tuple(word for word in vocabulary.words if word in _TELLING)
    return cls(named, (), named, telling)

  def save(self, path: files.PathLike) -> None:
    files.write_sealed_json(path, dataclasses.asdict(self), None)

  @classmethod
  def load(cls, path: files.PathLike) -> "WordClasses":
    values = files.read_sealed_json(path, "word classes")
    try:
      return cls(**{name: tuple(words) for name, words in values.items()})
    except (TypeError, AttributeError):
      raise errors.UserError(
        f"{path} does not hold word classes (nouns, verbs, things, modifiers); remove it"
      ) from None

  def is_thing(self, vocabulary: vocabularies.Vocabulary) -> list[bool]:
    """Whether each word of the vocabulary names a thing."""
    things = frozenset(self.things)
    return [word in things for word in vocabulary.words]

  def groups(self, vocabulary: vocabularies.Vocabulary) -> tuple[tuple[int, ...], ...]:
    """Ids of nouns and verbs, the forms of one together: (dog, dogs), (sit, sits, sitting), ..."""
    groups: dict[tuple[str, str], list[int]] = {}
    for tag, words in (("NOUN", self.nouns), ("VERB", self.verbs)):
      for word in words:
        if word in vocabulary.ids:
          groups.setdefault((lemmas.lemma(word, tag), tag), []).append(vocabulary.ids[word])
    return tuple(tuple(sorted(group)) for group in groups.values())

  def modifier_ids(self, vocabulary: vocabularies.Vocabulary) -> tuple[int, ...]:
    """Ids of the modifiers."""
    return tuple(vocabulary.ids[word] for word in self.modifiers if word in vocabulary.ids)


def _chosen(
  words: tuple[str, ...], flags: list[bool], others: Collection[str] = ()
) -> tuple[str, ...]:
  """The words that are flagged and not among `others`."""
  others = frozenset(others)
  return tuple(w for w, chosen in zip(words, flags, strict=True) if chosen and w not in others)
