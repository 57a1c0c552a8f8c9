"""Scores of a tagger that always says the same."""

from trainers.tagger import tagged, tagger_scores


class Constant:
  """A tagger that calls every word a noun, but for "the"."""

  name = "constant"

  def tag(self, sentences):
    return [["DET" if word == "the" else "NOUN" for word in words] for words in sentences]


SENTENCES = [
  tagged.Sentence(("the", "dog", "runs"), ("DET", "NOUN", "VERB")),
  tagged.Sentence(("the", "the", "seattle"), ("DET", "NOUN", "PROPN")),
]


def test_accuracy_counts_equal_tags():
  # Right: the, dog, the. Wrong: runs, the (a noun here), seattle (PROPN).
  assert tagger_scores.accuracy(Constant(), SENTENCES) == 3 / 6


def test_noun_scores_count_noun_and_propn_alike():
  # Called nouns: dog, runs, seattle; true nouns: dog, the, seattle; common: 2.
  scores = tagger_scores.noun_scores(Constant(), SENTENCES)
  assert scores == {"precision": 2 / 3, "recall": 2 / 3, "f1": 4 / 6}


def test_speed_is_positive():
  assert tagger_scores.words_per_second(Constant(), SENTENCES * 1000) > 0
