"""Universal parts of speech of captions, by spaCy.

Captions come tokenised, lower-case and without punctuation. The pipeline
`english_tagger`, shipped with the package (see docs/tagger.md), was trained for such
text; spaCy's `en_core_web_sm` is used instead if it is installed.
"""

# bazel: data = [":english_tagger"]

import functools
import importlib.util
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gcap_tf import errors, optional

if TYPE_CHECKING:
  from spacy import language
  from thinc import api as thinc

SHIPPED = pathlib.Path(__file__).with_name("english_tagger")
NOUN_TAGS = frozenset(("NOUN", "PROPN"))
_BATCH = 256  # sentences to a matrix product
_NEEDED = ("tok2vec", "transformer", "tagger", "morphologizer", "attribute_ruler")


def multiply_by_numpy(model: "thinc.Model") -> None:
  """Lets NumPy multiply a network's matrices, in half the time of thinc's BLIS."""
  ops = optional.require("thinc.api", "train").NumpyOps(use_blis=False)
  for node in model.walk():
    node.ops = ops


class Tagger:
  """A spaCy pipeline that tags sentences given as words."""

  def __init__(self, name: str, pipeline: "language.Language"):
    """Wraps a pipeline.

    Args:
      name: its name in messages and in prepared data.
      pipeline: one that sets `Token.pos_`, or whose only component is a "tagger" with
        universal tags as labels, as the shipped one.
    """
    self.name = name
    self._pipeline = pipeline
    self._universal = pipeline.pipe_names == ["tagger"]
    if self._universal:
      multiply_by_numpy(pipeline.get_pipe("tagger").model)

  def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Universal part of speech of every word of every sentence."""
    tags: list[list[str]] = []
    for start in range(0, len(sentences), _BATCH):
      tags += self._tag_batch(sentences[start : start + _BATCH])
    return tags

  def _tag_batch(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    vocabulary = self._pipeline.vocab
    tokens = optional.require("spacy.tokens", "train")
    docs = [tokens.Doc(vocabulary, words=list(words)) for words in sentences]
    filled = [doc for doc in docs if len(doc)]
    if self._universal and filled:
      component = self._pipeline.get_pipe("tagger")
      labels = component.labels
      # predict() alone, since writing tags into the documents and reading them back
      # costs as much as the network itself.
      found = iter([[labels[i] for i in row.tolist()] for row in component.predict(filled)])
    else:
      found = iter([[token.pos_ for token in doc] for doc in self._pipeline.pipe(filled)])
    return [next(found) if len(doc) else [] for doc in docs]


@functools.cache
def load_tagger(name: str = "auto") -> Tagger:
  """Loads a tagger.

  Args:
    name: "auto" (`en_core_web_sm` if it is installed, else the shipped pipeline), "shipped",
      or the name or folder of a spaCy pipeline.
  """
  if name == "auto":
    name = "en_core_web_sm" if importlib.util.find_spec("en_core_web_sm") else "shipped"
  source = SHIPPED if name == "shipped" else name
  spacy = optional.require("spacy", "train")
  try:
    pipeline = spacy.load(source)
  except OSError as error:
    raise errors.UserError(
      f'no spaCy pipeline "{name}" ({error}); expected "auto", "shipped", the name of an '
      "installed pipeline, or a folder"
    ) from None
  if not {"tagger", "morphologizer"} & set(pipeline.pipe_names):
    raise errors.UserError(
      f'spaCy pipeline "{name}" has no tagger; its components: {", ".join(pipeline.pipe_names)}'
    )
  for component in pipeline.pipe_names:
    if component not in _NEEDED:
      pipeline.disable_pipe(component)
  return Tagger(name, pipeline)
