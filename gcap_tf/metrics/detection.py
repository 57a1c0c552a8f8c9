"""How well regions cover annotated boxes, and how well they are named; all in percent.

    recall_36, recall_100   annotated boxes that some of the first 36 (100) regions overlaps by
                            IoU > 0.5, whatever it is called; also by the size of the box
                            (square root of its share of the picture: < .15, < .4, larger)
    ap50                    area under precision over recall of all regions of the split, sorted
                            by score; a box is found once, at IoU > 0.5; classes do not count
    label_top1, label_top5  of the annotated boxes that have an object word and are found by the
                            first 36 regions: those whose best region (the largest IoU) has one of
                            the box's words as its first label (among its first five)
    colour_top1             of the annotated boxes whose phrases name a colour: those whose own
                            region (the annotated box itself) gets one of these colours

A box's words and colours are those of all phrases of all captions that point to it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from gcap_tf import box_geometry

FEW, MANY = 36, 100
OVERLAP = 0.5
SIZES = {"small": (0.0, 0.15), "medium": (0.15, 0.4), "large": (0.4, np.inf)}


@dataclasses.dataclass(frozen=True)
class Judged:
  """One picture's boxes, judged.

  Attributes:
    sizes: [n] square roots of the boxes' shares of the picture.
    best_few, best_many: [n] largest IoU among the first 36 and 100 regions.
    label_ranks: [n] from 0, rank of the first right label of the best region of 36; -1 if the
      box has no word or is not found.
    colour_right: [n] 1 or 0; -1 if no phrase names a colour.
    hits: [R] whether a region is the first to find some box.
    scores: [R] of the regions.
  """

  sizes: np.ndarray
  best_few: np.ndarray
  best_many: np.ndarray
  label_ranks: np.ndarray
  colour_right: np.ndarray
  hits: np.ndarray
  scores: np.ndarray


def judge(
  annotated: np.ndarray,
  words: np.ndarray,
  colours: np.ndarray,
  regions: np.ndarray,
  scores: np.ndarray,
  label_probs: np.ndarray,
  colour_probs: np.ndarray,
) -> Judged:
  """Judges one picture.

  Args:
    annotated: [n, 4] boxes from 0 to 1.
    words: [n, L] counts of each word.
    colours: [n, C] counts of each colour.
    regions: [R, 4], best first.
    scores: [R].
    label_probs: [R, L] of the regions.
    colour_probs: [n, C] read at the annotated boxes.
  """
  sides = annotated[:, 2:] - annotated[:, :2]
  overlap = box_geometry.iou(annotated, regions) if len(regions) else np.zeros((len(annotated), 1))
  few = overlap[:, :FEW]
  found = few.max(1) > OVERLAP
  ranks = np.full(len(annotated), -1)
  for box in np.flatnonzero(found & (words.sum(1) > 0)):
    order = np.argsort(-label_probs[few[box].argmax()], kind="stable")
    ranks[box] = np.argmax(words[box][order] > 0)
  right = colours[np.arange(len(annotated)), colour_probs.argmax(1)] > 0
  return Judged(
    sizes=np.sqrt(sides.prod(1)),
    best_few=few.max(1),
    best_many=overlap[:, :MANY].max(1),
    label_ranks=ranks,
    colour_right=np.where(colours.sum(1) > 0, right, -1),
    hits=first_hits(overlap),
    scores=scores,
  )


def first_hits(overlap: np.ndarray) -> np.ndarray:
  """Regions, in their order, that find a box which none before found: bool [R] of IoU [n, R]."""
  hits = np.zeros(overlap.shape[1], bool)
  free = np.ones(len(overlap), bool)
  for region in range(overlap.shape[1]):
    wanted = np.where(free, overlap[:, region], 0.0)
    if len(wanted) and wanted.max() > OVERLAP:
      hits[region], free[wanted.argmax()] = True, False
  return hits


def figures(judged: Sequence[Judged]) -> dict[str, float]:
  """The figures of a split, see the module; those without a box to judge are left out."""
  sizes, few, many, ranks, colour = (
    np.concatenate([getattr(picture, name) for picture in judged])
    for name in ("sizes", "best_few", "best_many", "label_ranks", "colour_right")
  )
  kinds = {
    "recall_36": few > OVERLAP,
    "recall_100": many > OVERLAP,
    **{
      f"recall_36_{name}": few[(sizes >= least) & (sizes < largest)] > OVERLAP
      for name, (least, largest) in SIZES.items()
    },
    "label_top1": ranks[ranks >= 0] < 1,
    "label_top5": ranks[ranks >= 0] < 5,
    "colour_top1": colour[colour >= 0] > 0,
  }
  found = {name: 100.0 * float(np.mean(right)) for name, right in kinds.items() if len(right)}
  found["ap50"] = 100.0 * average_precision(judged)
  return found | {"boxes": len(few), "pictures": len(judged)}


def average_precision(judged: Sequence[Judged]) -> float:
  """Area under the precision envelope over recall; 0 without boxes or regions."""
  boxes = sum(len(picture.sizes) for picture in judged)
  hits = np.concatenate([picture.hits for picture in judged])
  scores = np.concatenate([picture.scores for picture in judged])
  if not boxes or not len(hits):
    return 0.0
  hits = hits[np.argsort(-scores, kind="stable")]
  found = np.cumsum(hits)
  precision = found / np.arange(1, len(hits) + 1)
  envelope = np.maximum.accumulate(precision[::-1])[::-1]
  return float(np.sum(envelope[hits]) / boxes)
