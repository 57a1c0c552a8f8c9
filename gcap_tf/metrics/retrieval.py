"""Image-text retrieval: recall at k, median and mean rank, rsum, by the protocol of SCAN.

A rank is the number of wrong answers placed before the first right one. Departure: the
released code sorts, so that exact ties fall in a random order and a NaN wins every
query. Here a wrong answer that ties is placed before the right one (a matcher with one
score for everything finds nothing), the share of queries with such a tie is reported,
and scores that are not finite are an error. Range: recalls in percent, as papers print.
"""

from collections.abc import Mapping

import numpy as np

from gcap_tf import errors

CUTOFFS = (1, 5, 10)


def retrieval(similarity: np.ndarray, image_of_caption: np.ndarray) -> dict[str, float]:
  """Scores both directions of retrieval.

  Args:
    similarity: [I, C] score of every picture with every caption.
    image_of_caption: [C] the picture (row) of each caption; any number a picture. A
      picture without captions only distracts.

  Returns:
    Percentages `i2t_r1`, `i2t_r5`, `i2t_r10`, `t2i_r1`, .. and their sum `rsum`; ranks from
    1 `i2t_medr`, `i2t_meanr`, ..; percentages of queries decided by a tie `i2t_tied`, ..
  """
  similarity, owner = _checked(similarity, image_of_caption)
  scores = {}
  for direction, (ranks, tied) in (
    ("i2t", image_to_text_ranks(similarity, owner)),
    ("t2i", text_to_image_ranks(similarity, owner)),
  ):
    for k in CUTOFFS:
      scores[f"{direction}_r{k}"] = 100.0 * float(np.mean(ranks < k))
    scores[f"{direction}_medr"] = float(np.floor(np.median(ranks)) + 1)
    scores[f"{direction}_meanr"] = float(np.mean(ranks) + 1)
    scores[f"{direction}_tied"] = 100.0 * float(np.mean(tied))
  scores["rsum"] = sum(scores[f"{d}_r{k}"] for d in ("i2t", "t2i") for k in CUTOFFS)
  return scores


def image_to_text_ranks(
  similarity: np.ndarray, image_of_caption: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Ranks from 0 of the best own caption, for each picture that has one; and its ties."""
  images, captions = similarity.shape
  own = similarity[image_of_caption, np.arange(captions)]  # [C]
  best = np.full(images, -np.inf, similarity.dtype)
  np.maximum.at(best, image_of_caption, own)
  own_at_best = np.bincount(image_of_caption[own == best[image_of_caption]], minlength=images)
  above = (similarity > best[:, None]).sum(1)
  ties = (similarity == best[:, None]).sum(1) - own_at_best
  has_captions = np.bincount(image_of_caption, minlength=images) > 0
  return (above + ties)[has_captions], (ties > 0)[has_captions]


def text_to_image_ranks(
  similarity: np.ndarray, image_of_caption: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Ranks from 0 of each caption's own picture; and whether another picture ties."""
  own = similarity[image_of_caption, np.arange(similarity.shape[1])]  # [C]
  above = (similarity > own).sum(0)
  ties = (similarity == own).sum(0) - 1
  return above + ties, ties > 0


def five_fold(
  similarity: np.ndarray, image_of_caption: np.ndarray, folds: int = 5
) -> dict[str, float]:
  """Means over consecutive folds of the pictures: COCO 1K from the 5K test pictures."""
  similarity, owner = _checked(similarity, image_of_caption)
  images = len(similarity)
  if images % folds:
    raise errors.UserError(
      f"{images} pictures do not divide into {folds} folds; use a split whose size is a multiple"
    )
  size = images // folds
  results: list[Mapping[str, float]] = []
  for start in range(0, images, size):
    chosen = np.flatnonzero((owner >= start) & (owner < start + size))
    if not len(chosen):
      raise errors.UserError(f"pictures {start} to {start + size - 1} have no caption")
    results.append(retrieval(similarity[start : start + size, chosen], owner[chosen] - start))
  return {name: float(np.mean([result[name] for result in results])) for name in results[0]}


def _checked(similarity: np.ndarray, image_of_caption: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  similarity = np.asarray(similarity)
  owner = np.asarray(image_of_caption)
  if similarity.ndim != 2 or owner.shape != similarity.shape[1:] or not similarity.size:
    raise errors.UserError(
      f"similarity must be [pictures, captions] with one picture index per caption; "
      f"got {list(similarity.shape)} and {list(owner.shape)}"
    )
  if not np.issubdtype(owner.dtype, np.integer):
    raise errors.UserError(f"picture indices must be integers, got {owner.dtype}")
  if owner.min() < 0 or owner.max() >= len(similarity):
    raise errors.UserError(
      f"captions name pictures {owner.min()} to {owner.max()}, "
      f"but similarity has {len(similarity)} pictures"
    )
  finite = np.isfinite(similarity)
  if not finite.all():
    image, caption = np.argwhere(~finite)[0]
    raise errors.UserError(
      f"similarity of picture {image} and caption {caption} is {similarity[image, caption]} "
      f"({np.count_nonzero(~finite)} such scores): the matcher diverged or a feature is broken"
    )
  return similarity, owner
