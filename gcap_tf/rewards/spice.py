"""SPICE as a reward: starts the Java program once for every batch.

The program parses every caption and reference, which takes seconds; use it for short studies.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from gcap_tf import commands, errors
from gcap_tf.metrics.java_scorers import java, spice, spice_jars
from gcap_tf.text import vocabulary as vocabularies


class Spice:
  """Scores captions of pictures whose references are known.

  Args:
    references: picture -> its references as text.
    vocabulary: turns ids into words.
  """

  def __init__(self, references: Mapping[str, Sequence[str]], vocabulary: vocabularies.Vocabulary):
    self._references, self._vocabulary = references, vocabulary
    try:
      java.find()
    except java.NotComputed as reason:
      raise errors.UserError(f"the reward spice cannot be computed: {reason}") from None
    absent = spice_jars.missing()
    if absent:
      raise errors.UserError(
        f"the reward spice lacks {absent[0].file_name} in {spice_jars.folder()}; "
        f"run {commands.command('fetch_spice')} once"
      )

  def score(self, captions: np.ndarray, images: Sequence[str]) -> np.ndarray:
    """SPICE of padded rows [B, T]: [B], from 0 to 1; 0 for a caption without words."""
    texts = [" ".join(self._vocabulary.decode(row)) for row in captions]
    asked = {str(n): text for n, text in enumerate(texts) if text}
    if not asked:
      return np.zeros(len(texts))
    references = {n: self._references[images[int(n)]] for n in asked}
    try:
      _, each = spice.spice(references, asked)
    except java.NotComputed as reason:
      raise errors.UserError(f"the reward spice was not computed: {reason}") from None
    return np.array([each.get(str(n), 0.0) for n in range(len(texts))])
