"""Diversity of captions, and hallucination: how often they name objects that are not there.

Range: `unique`, `novel`, `chair_i` and `chair_s` are fractions from 0 to 1.

Hallucination follows CHAIR (Rohrbach et al., "Object Hallucination in Image Captioning",
EMNLP 2018, arXiv:1809.02156):

    CHAIR_i = hallucinated object mentions / object mentions
    CHAIR_s = captions with a hallucinated object / captions

Departure: objects of a picture are those which its references annotate with a box or
mention, instead of COCO's 80 segmented classes, so it works on any annotated data.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.metrics import grounding, grounding_events, results_io


@dataclasses.dataclass(frozen=True)
class Diversity:
  """Figures of a set of captions.

  Attributes:
    vocabulary: distinct words used.
    unique: distinct captions as a share of all.
    novel: share of captions that no training caption equals; None without those.
    words: mean length.
  """

  vocabulary: int
  unique: float
  novel: float | None
  words: float

  def as_json(self) -> dict[str, float]:
    values = {
      "vocabulary_used": self.vocabulary,
      "unique_captions": self.unique,
      "words_per_caption": self.words,
    }
    return values if self.novel is None else values | {"novel_captions": self.novel}

  def text(self) -> str:
    """A line for people."""
    novel = "" if self.novel is None else f"; {self.novel:.1%} are not in the training set"
    return (
      f"distinctiveness: {self.vocabulary:,} words used, {self.words:.1f} a caption; "
      f"{self.unique:.1%} of the captions are distinct{novel}"
    )


@dataclasses.dataclass(frozen=True)
class Hallucination:
  """CHAIR, as fractions; 0 if no object is named.

  Attributes:
    chair_i: over object mentions.
    chair_s: over captions.
    mentions: object mentions counted.
    captions: captions counted.
  """

  chair_i: float
  chair_s: float
  mentions: int
  captions: int

  def as_json(self) -> dict[str, float]:
    return {"chair_i": self.chair_i, "chair_s": self.chair_s}

  def text(self) -> str:
    """A line for people."""
    return (
      f"hallucination: {self.chair_i:.1%} of {self.mentions:,} objects named are not there, "
      f"in {self.chair_s:.1%} of {self.captions:,} captions"
    )


def diversity(
  captions: Iterable[Sequence[str]], training: Iterable[Sequence[str]] | None = None
) -> Diversity:
  """Counts words and equal captions.

  Args:
    captions: words of each generated caption.
    training: words of each training caption, tokenised in the same way.
  """
  generated = [tuple(caption) for caption in captions]
  if not generated:
    raise errors.UserError("diversity needs at least one caption")
  novel = None
  if training is not None:
    seen = {tuple(caption) for caption in training}
    novel = float(np.mean([caption not in seen for caption in generated]))
  return Diversity(
    vocabulary=len({word for caption in generated for word in caption}),
    unique=len(set(generated)) / len(generated),
    novel=novel,
    words=float(np.mean([len(caption) for caption in generated])),
  )


def hallucination(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
) -> Hallucination:
  """CHAIR of the first predicted caption of each picture.

  Args:
    references: annotated and mentioned objects of the pictures.
    predictions: image id -> captions with their object words.
    lemma: lemma of one word.
  """
  grounding.check_overlap(references, predictions)
  per_caption = []
  for reference in references:
    if not predictions.get(reference.image_id):
      continue
    present = {name for sentence in reference.captions for name in sentence.classes}
    mentioned = set().union(
      *(grounding_events.unannotated_lemmas(sentence, lemma) for sentence in reference.captions)
    )
    names = predictions[reference.image_id][0].classes
    wrong = sum(name not in present and lemma(name) not in mentioned for name in names)
    per_caption.append((wrong, len(names)))
  wrong, named = np.sum(per_caption, axis=0)
  return Hallucination(
    chair_i=float(wrong / max(named, 1)),
    chair_s=float(np.mean([count > 0 for count, _ in per_caption])),
    mentions=int(named),
    captions=len(per_caption),
  )
