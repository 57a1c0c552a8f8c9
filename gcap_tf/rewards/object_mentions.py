"""Object words that people use for a picture, too, as a reward (our own).

    r(y) = Σ_{c in C(y)} w_c ([c in R] - h)        w_c = min((n / n_c)^1/2, 4)

C(y) are the object classes that the words of caption y name, each counted once, and R those that
the words of any reference of its picture name. n_c is the number of pictures whose references name
c, and n its mean over the times that a class is named. A class that nobody names costs h, so it
pays to name a thing if it is there with a probability above h. Rare classes weigh more: grounding
scores are means over classes, and CIDEr-D alone leaves rare words out.

Only the words of captions are used, no box.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.rewards import ngrams
from gcap_tf.text import object_words
from gcap_tf.text import vocabulary as vocabularies

COST = 0.35  # h
_MOST = 4.0


class ObjectMentions:
  """Scores captions of pictures whose references are known.

  Args:
    references: picture -> its references as rows or lists of ids, see `ngrams.flatten`.
    classes: [V] class of each word, 0 for none.
    cost: h.
  """

  def __init__(
    self,
    references: Mapping[Hashable, ngrams.Sentences],
    classes: Sequence[int],
    cost: float = COST,
  ):
    self._classes, self._cost = np.asarray(classes, np.int64), cost
    self._rows = {image: row for row, image in enumerate(references)}
    self._named = np.stack([self._mentions(sentences).any(0) for sentences in references.values()])
    if not self._named.any():
      raise errors.UserError("the reward objects: no reference names an object class of the data")
    self._weights = class_weights(self._named.sum(0))

  def score(self, captions: ngrams.Sentences, images: Sequence[Hashable]) -> np.ndarray:
    """r of each caption: [B]."""
    try:
      rows = [self._rows[image] for image in images]
    except KeyError as error:
      raise errors.UserError(f"objects: picture {error.args[0]} has no references") from None
    gain = self._weights * (self._named[rows] - self._cost)  # [B, C + 1]
    return np.where(self._mentions(captions), gain, 0.0).sum(1)

  def _mentions(self, captions: ngrams.Sentences) -> np.ndarray:
    """Whether each caption names each class: bool [B, C + 1]; class 0 never."""
    ids, lengths = ngrams.flatten(captions, False)
    found = np.zeros([len(lengths), self._classes.max() + 1], bool)
    found[np.repeat(np.arange(len(lengths)), lengths), self._classes[ids]] = True
    found[:, 0] = False
    return found


def class_weights(pictures: np.ndarray) -> np.ndarray:
  """w [C] of classes that stand in n_c pictures: [C]."""
  counts = np.maximum(pictures, 1).astype(np.float64)
  mean = np.average(counts, weights=pictures)
  return np.minimum(np.sqrt(mean / counts), _MOST)


def classes_of(vocabulary: vocabularies.Vocabulary, names: Sequence[str]) -> list[int]:
  """The class that each word of a vocabulary names, counted from 1; 0 for none."""
  known = object_words.ObjectClasses(names)
  return [known.ids.get(known.of(word) or "", 0) for word in vocabulary.words]
