"""The word classes of a run: kept in its folder, found by the tagger the first time.

RUN/word_classes.json  nouns, things and modifiers of the vocabulary (`text.word_classes`)
"""

import pathlib

from absl import logging

from gcap_tf import errors, files
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.text import word_classes

FILE = "word_classes.json"


def of(folder: files.PathLike, vocabulary: vocabularies.Vocabulary) -> word_classes.WordClasses:
  """The word classes of a run; writes them to its folder if they are not there.

  If the tagger is not installed, region labels decide (`WordClasses.by_labels`), and nothing is
  written.

  Args:
    folder: of the run.
    vocabulary: its words.
  """
  path = pathlib.Path(folder) / FILE
  if path.exists():
    return word_classes.WordClasses.load(path)
  try:
    found = word_classes.WordClasses.by_tagger(vocabulary)
  except errors.UserError as error:
    logging.warning(
      "nouns are taken from the region labels, since the tagger is missing: %s", error
    )
    return word_classes.WordClasses.by_labels(vocabulary)
  if path.parent not in (shipped_folders.RUN, shipped_folders.PHOTOGRAPHS):
    _keep(path, found)
  return found


def _keep(path: pathlib.Path, found: word_classes.WordClasses) -> None:
  try:
    found.save(path)
  except OSError:
    logging.info("%s cannot be written; the next command asks the tagger again", path)
