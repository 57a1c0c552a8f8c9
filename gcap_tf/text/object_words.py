"""Finds words that name an object class (the object words of the grounding metrics).

A word is an object word if and only if its lemma is the lemma of a class. Classes are those of a
file (Flickr30k: 480, ActivityNet: 431) or the frequent head words of the data itself.
If two classes share a lemma ("paper", "papers") the last one wins, as in the
released evaluators; a word that is itself a class name is that class.
"""

import collections
import pathlib
from collections.abc import Callable, Collection, Mapping, Sequence

from gcap_tf import errors, files
from gcap_tf.text import lemmas

# Tags of words that may name an object; class lists hold pronouns too ("he", "someone").
_NAMING_TAGS = frozenset(("NOUN", "PROPN", "PRON"))
# Plural in form, one thing in a picture.
_PAIRS = frozenset(
  (
    *("glasses", "sunglasses", "goggles", "jeans", "pants", "shorts", "clothes"),
    *("scissors", "stairs", "steps", "woods"),
  )
)


class ObjectClasses:
  """A list of object classes, and the class that a word names.

  Attributes:
    names: the classes, in the order given; class id 1 is `names[0]`, 0 is "none".
    ids: class -> id.
  """

  def __init__(
    self,
    names: Sequence[str],
    aliases: Mapping[str, str] | None = None,
    vocabulary: Collection[str] | None = None,
    lemma: Callable[[str], str] = lemmas.lemma,
  ):
    """Makes the table.

    Args:
      names: class names, lower-case, no two alike.
      aliases: further word -> class.
      vocabulary: if given, only classes among these words can be named, as in the
        released evaluators, which pass the captioner's words.
      lemma: word -> lemma; `word_lemmas.lemma` for ActivityNet-Entities.
    """
    doubled = [name for name, count in collections.Counter(names).items() if count > 1]
    if doubled:
      raise errors.UserError(f'object classes list "{doubled[0]}" twice')
    if not names:
      raise errors.UserError("the list of object classes is empty")
    self.names = tuple(names)
    self.ids = {name: index + 1 for index, name in enumerate(self.names)}
    self._by_word = {name: name for name in names if vocabulary is None or name in vocabulary}
    self._lemma = lemma
    self._by_lemma = {lemma(name): name for name in self._by_word}
    for word, name in (aliases or {}).items():
      if name in self._by_word:
        self._by_word.setdefault(word, name)
        self._by_lemma.setdefault(lemma(word), name)

  def of(self, word: str, tag: str | None = None) -> str | None:
    """The class that a word names, or None.

    Args:
      word: a word, in any case.
      tag: its universal part of speech, if known: a verb ("dresses") names no object.
    """
    if tag is not None and tag not in _NAMING_TAGS:
      return None
    word = word.lower()
    return self._by_word.get(word) or self._by_lemma.get(self._lemma(word))

  @classmethod
  def load(cls, path: files.PathLike, vocabulary: Collection[str] | None = None) -> "ObjectClasses":
    """Reads one class per line; commas separate a class from its aliases."""
    path = pathlib.Path(path)
    try:
      lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
      raise errors.UserError(f"object classes {path} does not exist") from None
    except UnicodeDecodeError as error:
      raise errors.UserError(f"object classes {path} is not UTF-8 text ({error})") from None
    names = []
    aliases = {}
    for number, line in enumerate(lines, 1):
      if not line.strip():
        continue
      name, *others = (part.strip().lower() for part in line.split(","))
      if not name:
        raise errors.UserError(f"{path}:{number}: an alias without a class")
      if name in names:
        raise errors.UserError(f'{path}:{number}: class "{name}" is listed twice')
      names.append(name)
      aliases.update(dict.fromkeys(filter(None, others), name))
    if not names:
      raise errors.UserError(f"object classes {path} is empty; expected one class per line")
    return cls(names, aliases, vocabulary)

  @classmethod
  def build(cls, head_word_counts: Mapping[str, int], min_count: int) -> "ObjectClasses":
    """The lemmas whose forms head at least `min_count` phrases, most frequent first."""
    counts: collections.Counter[str] = collections.Counter()
    for word, count in head_word_counts.items():
      counts[lemmas.lemma(word)] += count
    names = [
      name
      for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
      if count >= min_count
    ]
    if not names:
      raise errors.UserError(
        f"no word heads {min_count} phrases or more: the list of object classes would be "
        "empty; lower the count, or give a file of classes"
      )
    return cls(names)

  def save(self, path: files.PathLike) -> None:
    """Writes one class per line (aliases are not kept)."""
    files.write_text(path, "".join(f"{name}\n" for name in self.names))


def columns_named(words: Mapping[str, int], labels: Sequence[str], unknown_id: int) -> list[int]:
  """For every id, the position of the label that its word names by its lemma, from 0; else -1.

  Args:
    words: word -> id; id 0 is the end of a caption.
    labels: labels of a detector.
    unknown_id: id of the unknown word, which names nothing.
  """
  classes = ObjectClasses(labels)
  named = [-1] * (max(words.values(), default=0) + 1)
  for word, number in words.items():
    found = classes.of(word)
    if found and number != unknown_id:
      named[number] = classes.ids[found] - 1
  return named


def is_plural(word: str) -> bool:
  """Whether an object word names several things: "dogs", "people"; not "jeans", which are one."""
  return word not in _PAIRS and (word == "people" or lemmas.lemma(word) != word)
