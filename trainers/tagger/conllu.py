"""Sentences of a Universal Dependencies treebank (CoNLL-U files, plain or .xz).

https://universaldependencies.org/format.html
"""

import lzma
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

from gcap_tf import errors, files

_COLUMNS = 10


class Token(NamedTuple):
  """A syntactic word: its form, lemma and universal part of speech.

  `glued`: no space follows it; `typo`: the treebank marks it as misspelt.
  """

  form: str
  lemma: str
  tag: str
  glued: bool
  typo: bool


def read(path: files.PathLike) -> Iterator[list[Token]]:
  """Yields the sentences of a treebank file.

  Lines of multi-word tokens (`8-9`) and of empty nodes (`8.1`) are left out: the
  syntactic words stand for themselves.
  """
  path = pathlib.Path(path)
  opened = lzma.open if path.suffix == ".xz" else open
  sentence: list[Token] = []
  with opened(path, "rt", encoding="utf-8") as lines:
    for number, line in enumerate(lines, 1):
      line = line.rstrip("\n")
      if not line:
        if sentence:
          yield sentence
        sentence = []
      elif not line.startswith("#"):
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
          raise errors.UserError(
            f"{path}:{number}: {len(columns)} columns, CoNLL-U has {_COLUMNS}; "
            "is this a treebank file?"
          )
        if columns[0].isdigit():
          sentence.append(
            Token(
              *columns[1:4],
              glued="SpaceAfter=No" in columns[9],
              typo="Typo=Yes" in columns[5],
            )
          )
  if sentence:
    yield sentence


def find(folder: files.PathLike, part: str) -> pathlib.Path:
  """The file of `part` ("train", "dev") in a treebank's folder."""
  found = sorted(pathlib.Path(folder).glob(f"*-ud-{part}.conllu*"))
  if not found:
    raise errors.UserError(
      f"{folder} holds no *-ud-{part}.conllu or .conllu.xz; "
      "give the folder of a UD treebank such as UD_English-EWT"
    )
  return found[0]
