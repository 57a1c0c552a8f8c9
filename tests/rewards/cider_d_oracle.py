"""CIDEr-D of one caption at a time, with dictionaries, straight from the formula."""

import collections
import math


def counts(tokens):
  found = collections.Counter()
  for n in range(1, 5):
    for i in range(len(tokens) - n + 1):
      found[tuple(tokens[i : i + n])] += 1
  return found


def document_frequency(pictures):
  """N-gram -> number of pictures that have it."""
  frequency = collections.Counter()
  for captions in pictures:
    frequency.update({gram for tokens in captions for gram in counts(tokens)})
  return frequency


def cider_d(caption, references, frequency, images, sigma=6.0):
  """Score of token lists; `frequency` as above, `images` the number of pictures."""

  def weights(tokens):
    return {
      gram: term * (math.log(images) - math.log(max(1.0, frequency.get(gram, 0))))
      for gram, term in counts(tokens).items()
    }

  def norm(vector, n):
    return math.sqrt(sum(w * w for gram, w in vector.items() if len(gram) == n))

  hypothesis = weights(caption)
  total = 0.0
  for tokens in references:
    reference = weights(tokens)
    gap = max(len(caption) - 1, 0) - max(len(tokens) - 1, 0)
    for n in range(1, 5):
      common = sum(
        min(w, reference[gram]) * reference[gram]
        for gram, w in hypothesis.items()
        if len(gram) == n and gram in reference
      )
      scale = norm(hypothesis, n) * norm(reference, n)
      if scale:
        total += common / scale * math.exp(-(gap**2) / (2 * sigma**2))
  return 10.0 * total / 4 / len(references)
