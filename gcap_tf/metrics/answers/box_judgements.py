"""Whether the box of a generated object word is right, by the annotation of its picture.

right    a box annotated for the class of the word, in any sentence, overlaps it: IoU > 0.5
unknown  the class has no box, but a sentence says the word
wrong    otherwise: the box is elsewhere, or no sentence knows of the thing
"""

from collections.abc import Callable

import numpy as np

from gcap_tf.metrics import grounding_events, overlap, results_io

IOU = 0.5


def judge(
  reference: results_io.Reference,
  predicted: results_io.PredictedCaption,
  lemma: Callable[[str], str],
) -> np.ndarray:
  """1.0 for right, 0.0 for wrong, NaN for unknown, for each object word: [n].

  Args:
    reference: the annotated sentences of the picture.
    predicted: the object words of the caption and their boxes.
    lemma: lemma of one word on its own.
  """
  boxes: dict[str, list[np.ndarray]] = {}
  for sentence in reference.captions:
    for name, box in zip(sentence.classes, sentence.boxes_px, strict=True):
      boxes.setdefault(name, []).append(box)
  said = set().union(
    *(grounding_events.unannotated_lemmas(sentence, lemma) for sentence in reference.captions)
  )
  found = np.zeros(len(predicted.classes))
  for row, name in enumerate(predicted.classes):
    if name in boxes:
      found[row] = (overlap.pixel_iou(predicted.boxes_px[row], np.stack(boxes[name])) > IOU).any()
    elif lemma(name) in said:
      found[row] = np.nan
  return found
