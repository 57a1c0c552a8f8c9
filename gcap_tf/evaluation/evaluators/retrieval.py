"""Retrieval: R@1, R@5, R@10 of pictures and captions, and their sum."""

from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import retrieval


@evaluator.MATCHERS.register("retrieval")
class Retrieval(evaluator.Evaluator[evaluator.MatcherScores]):
  """Ranks all captions for each picture, and all pictures for each caption."""

  def run(self, subject: evaluator.MatcherScores) -> evaluator.Report:
    score = retrieval.retrieval if subject.folds == 1 else retrieval.five_fold
    return evaluator.Report("", score(subject.similarity, subject.split.caption_pictures))
