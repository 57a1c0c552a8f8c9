"""Sentences with parts of speech: from a treebank, weakly tagged, or tagged by hand."""

import dataclasses
import re
from collections.abc import Collection, Sequence

from gcap_tf import errors, files
from gcap_tf.text import tokenizer
from trainers.tagger import conllu, weak_tags

# One letter per word in a file of hand tags.
LETTERS = {
  "A": "ADP",
  "C": "CCONJ",
  "D": "DET",
  "I": "INTJ",
  "J": "ADJ",
  "M": "NUM",
  "N": "NOUN",
  "O": "PRON",
  "P": "PROPN",
  "R": "ADV",
  "S": "SCONJ",
  "T": "PART",
  "V": "VERB",
  "X": "AUX",
}


@dataclasses.dataclass(frozen=True)
class Sentence:
  """Words and their universal parts of speech.

  A tag may list alternatives ("NOUN|PROPN"); "" allows any.
  """

  words: tuple[str, ...]
  tags: tuple[str, ...]


def treebank(path: files.PathLike) -> list[Sentence]:
  """A treebank as distributed."""
  return [
    Sentence(tuple(token.form for token in sentence), tuple(token.tag for token in sentence))
    for sentence in conllu.read(path)
  ]


def treebank_as_captions(path: files.PathLike) -> list[Sentence]:
  """A treebank in the spelling of captions: lower case, no punctuation, "t-shirt" one word."""
  found = [_as_caption(sentence) for sentence in conllu.read(path)]
  return [sentence for sentence in found if sentence.words]


def _as_caption(sentence: Sequence[conllu.Token]) -> Sentence:
  words: list[str] = []
  tags: list[str] = []
  glued = hyphen = False  # to the word before; by a hyphen
  for token in sentence:
    if token.form == "-" and glued and token.glued:
      hyphen = True
    elif hyphen and words:
      words[-1] += "-" + token.form.lower()
      tags[-1] = token.tag
      hyphen = False
    elif token.tag != "PUNCT":
      words.append(token.form.lower())
      tags.append(token.tag)
    glued = token.glued
  return Sentence(tuple(words), tuple(tags))


def weakly_tagged(
  entities: files.PathLike, known: Sequence[Sentence], held_out: Collection[str]
) -> list[Sentence]:
  """Flickr30k Entities sentences with the tags that follow from their brackets.

  Args:
    entities: the dataset's folder.
    known: a treebank, for its lexicon.
    held_out: pictures to leave out.
  """
  lexicon = weak_tags.Lexicon(
    pair for sentence in known for pair in zip(sentence.words, sentence.tags, strict=True)
  )
  sentences = [
    weak_tags.phrases(marked)
    for picture, lines in weak_tags.read_entities(entities)
    if picture not in held_out
    for marked in lines
  ]
  tagger = weak_tags.WeakTagger(sentences, lexicon)
  return [
    Sentence(tuple(word for phrase in sentence for word in phrase.words), tuple(tags))
    for sentence in sentences
    if any(tags := tagger.tags(sentence))
  ]


def hand_tagged(path: files.PathLike, entities: files.PathLike) -> list[Sentence]:
  """Captions tagged by hand; their words are read from Flickr30k Entities.

  The file is a list of `[picture, caption number, a letter of LETTERS per word]`.
  """
  rows = files.read_json(path, "hand tags")
  marked = dict(weak_tags.read_entities(entities))
  found = []
  for picture, number, letters in rows:
    text = re.sub(r"\[/EN#\d+\S* ([^\]]*)\]", r"\1", marked[picture][number])
    words = tokenizer.tokenize(text)
    if len(words) != len(letters):
      raise errors.UserError(
        f"{path}: caption {number} of picture {picture} has {len(words)} words "
        f"but {len(letters)} tags"
      )
    found.append(Sentence(tuple(words), tuple(LETTERS[letter] for letter in letters)))
  return found


def held_out_pictures(path: files.PathLike) -> set[str]:
  """The pictures of a file of hand tags."""
  return {picture for picture, _, _ in files.read_json(path, "hand tags")}
