"""CIDEr-D as the released scorers compute it: with dictionaries, one caption at a time."""

import collections
import math


def grams_of(row: list[int]) -> list[dict[tuple[int, ...], int]]:
  tokens = row[: row.index(0) + 1] if 0 in row else row
  return [
    collections.Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    for n in range(1, 5)
  ]


def one_at_a_time(
  captions: list[list[int]],
  references: list[list[list[int]]],
  frequency: dict[tuple[int, ...], float],
  images: int,
) -> list[float]:
  """CIDEr-D of each caption against its own references."""

  def weights(row):
    log_images = math.log(images)
    counts = grams_of(row)
    vectors = [
      {g: c * (log_images - math.log(max(1.0, frequency.get(g, 0.0)))) for g, c in grams.items()}
      for grams in counts
    ]
    norms = [math.sqrt(sum(w * w for w in vector.values())) for vector in vectors]
    return vectors, norms, sum(counts[1].values())

  scores = []
  for caption, rows in zip(captions, references, strict=True):
    vectors, norms, length = weights(caption)
    total = 0.0
    for row in rows:
      others, other_norms, other_length = weights(row)
      penalty = math.exp(-((length - other_length) ** 2) / 72.0)
      for vector, other, norm, other_norm in zip(vectors, others, norms, other_norms, strict=True):
        common = sum(min(w, other[g]) * other[g] for g, w in vector.items() if g in other)
        if norm and other_norm:
          total += common / (norm * other_norm) * penalty
    scores.append(10.0 * total / 4 / len(rows))
  return scores
