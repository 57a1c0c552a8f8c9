"""Retrieval: R@1, R@5, R@10 of pictures and captions, and their sum."""

import numpy as np

from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import retrieval
from gcap_tf.metrics.bootstrap import resampling


@evaluator.MATCHERS.register("retrieval")
class Retrieval(evaluator.Evaluator[evaluator.MatcherScores]):
  """Ranks all captions for each picture, and all pictures for each caption."""

  def run(self, subject: evaluator.MatcherScores) -> evaluator.Report:
    score = retrieval.retrieval if subject.folds == 1 else retrieval.five_fold
    found = score(subject.similarity, subject.split.caption_pictures)
    statistics = recalls_of_pictures(subject) if subject.statistics else {}
    return evaluator.Report("", found, statistics)


def recalls_of_pictures(subject: evaluator.MatcherScores) -> dict[str, resampling.Statistic]:
  """rsum and its six recalls: the queries of each picture, and those that succeed."""
  owner, pictures = subject.split.caption_pictures, len(subject.split)
  to_text, _ = retrieval.image_to_text_ranks(subject.similarity, owner)
  to_picture, _ = retrieval.text_to_image_ranks(subject.similarity, owner)
  captions = np.bincount(owner, minlength=pictures)
  has_captions = captions > 0
  found, hits, queries = {}, [], []
  for k in retrieval.CUTOFFS:
    own = np.zeros(pictures)
    own[has_captions] = to_text < k
    hits.append((f"i2t_r{k}", own, has_captions.astype(float)))
  for k in retrieval.CUTOFFS:
    own = np.bincount(owner, to_picture < k, minlength=pictures)
    hits.append((f"t2i_r{k}", own, captions.astype(float)))
  for name, own, asked in hits:
    found[name] = resampling.ratio(own, asked)
    queries.append(asked)
  every = np.stack([own for _, own, _ in hits], 1)
  return {**found, "rsum": resampling.ratio(every, np.stack(queries, 1))}
