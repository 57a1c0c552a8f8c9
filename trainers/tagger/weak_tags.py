"""Parts of speech that follow from the brackets of Flickr30k Entities.

    [/EN#1/people A young man] in [/EN#2/clothing a blue ski jacket] is jumping .

The last word of a phrase, and the word before "of" in it, is nearly always a noun; a
word between phrases almost never is. If a treebank's lexicon disagrees, the word gets no
tag, and the tagger decides. Possible tags of a word are written as alternatives
("NOUN|PROPN"); "" allows any tag.
"""

import collections
import itertools
import pathlib
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gcap_tf import errors, files
from gcap_tf.text import tokenizer

NOUN = "NOUN|PROPN"
NOT_NOUN = "ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NUM|PART|PRON|SCONJ|VERB|X"
_PHRASE = re.compile(r"\[/EN#\d+/(\S*) ([^\]]*)\]|([^\[]+)")
_LIKE_ADJECTIVE = re.compile(r".*(-|..(y|ed|ish|less|ful|ous|al|ic|en|ant|ent|ible|able|ive|ese)$)")
_LIKE_VERB = re.compile(r"..+(s|ed|ly)$")
_COLOURS = frozenset(
  (
    *("beige", "black", "blond", "blonde", "blue", "brown", "golden", "gray", "green", "grey"),
    *("maroon", "orange", "pink", "plaid", "purple", "red", "tan", "teal", "turquoise", "white"),
    "yellow",
  )
)
_COLLOCATION = 10  # "swimming pool", "bowling alley": the word in -ing is a noun


class Phrase(NamedTuple):
  """Words, and the kind of entity they name; None for words between phrases."""

  kind: str | None
  words: list[str]


class Lexicon:
  """Counts of the tags that a treebank gives to each word, in lower case."""

  def __init__(self, tagged: Iterable[tuple[str, str]]):
    self._counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for word, tag in tagged:
      self._counts[word.lower()][tag] += 1

  def share(self, word: str, *tags: str) -> float | None:
    """The share of `tags` among the word's tags; None for a word seen fewer than 4 times."""
    counts = self._counts.get(word)
    if not counts or counts.total() < 4:
      return None
    return sum(counts[tag] for tag in tags) / counts.total()


def read_entities(folder: files.PathLike) -> Iterator[tuple[str, list[str]]]:
  """Pictures of Flickr30k Entities with their marked-up sentences.

  Args:
    folder: holds `annotations.zip` or a folder `Sentences`.
  """
  folder = pathlib.Path(folder)
  archive = folder / "annotations.zip"
  if archive.exists():
    with zipfile.ZipFile(archive) as opened:
      for name in sorted(opened.namelist()):
        path = pathlib.PurePosixPath(name)
        if path.parent.name == "Sentences" and path.suffix == ".txt":
          yield path.stem, opened.read(name).decode("utf-8").splitlines()
  elif (folder / "Sentences").is_dir():
    for path in sorted((folder / "Sentences").glob("*.txt")):
      yield path.stem, path.read_text(encoding="utf-8").splitlines()
  else:
    raise errors.UserError(
      f"{folder} holds neither annotations.zip nor Sentences/; "
      "give the folder of Flickr30k Entities"
    )


def phrases(marked: str) -> list[Phrase]:
  """The phrases of a marked-up sentence and the words between them, tokenised."""
  return [
    Phrase(kind if phrase else None, tokenizer.tokenize(phrase or between))
    for kind, phrase, between in _PHRASE.findall(marked)
  ]


class WeakTagger:
  """Finds possible tags of the words of marked-up sentences."""

  def __init__(self, sentences: Iterable[Sequence[Phrase]], lexicon: Lexicon):
    self._lexicon = lexicon
    self._last: collections.Counter[str] = collections.Counter()
    self._inner: collections.Counter[str] = collections.Counter()
    self._pairs: collections.Counter[tuple[str, str]] = collections.Counter()
    for sentence in sentences:
      for kind, words in sentence:
        if kind is not None and words:
          self._last[words[-1]] += 1
          self._inner.update(words[:-1])
          self._pairs.update(itertools.pairwise(words))

  def tags(self, sentence: Sequence[Phrase]) -> list[str]:
    """Possible tags of every word of a sentence."""
    found = []
    for kind, words in sentence:
      if kind is None:
        found += [self._between(word) for word in words]
      else:
        for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
          found.append(self._within(word, following, kind))
    return found

  def _within(self, word: str, following: str, kind: str) -> str:
    nouns = self._lexicon.share(word, "NOUN", "PROPN")
    if following in ("", "of"):
      seldom = nouns is not None and nouns < 0.25
      return "" if seldom or word in _COLOURS else NOUN
    if word in _COLOURS:
      return "ADJ"
    if word.endswith("ing"):
      if "people" in kind or "animals" in kind:
        return "VERB|ADJ"
      return "NOUN" if self._pairs[word, following] >= _COLLOCATION else ""
    ends_phrases = self._last[word] / (self._last[word] + self._inner[word])
    if ends_phrases < 0.05 and (
      nouns < 0.3 if nouns is not None else _LIKE_ADJECTIVE.match(word) is not None
    ):
      return NOT_NOUN
    return ""

  def _between(self, word: str) -> str:
    nouns = self._lexicon.share(word, "NOUN", "PROPN")
    if word.endswith("ing") and len(word) > 5:
      verbs = self._lexicon.share(word, "VERB")
      return "VERB" if verbs is None or verbs > 0.5 else ""
    if nouns is None:
      return NOT_NOUN if _LIKE_VERB.match(word) else ""
    return NOT_NOUN if nouns < 0.4 else ""
