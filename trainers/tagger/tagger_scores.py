"""Accuracy and speed of a tagger."""

import time
from collections.abc import Sequence

from gcap_tf.text import tagging
from trainers.tagger import tagged


def accuracy(tagger: tagging.Tagger, sentences: Sequence[tagged.Sentence]) -> float:
  """Share of words whose tag is right."""
  pairs = list(_pairs(tagger, sentences))
  return sum(given == right for given, right in pairs) / len(pairs)


def noun_scores(tagger: tagging.Tagger, sentences: Sequence[tagged.Sentence]) -> dict[str, float]:
  """Precision, recall and F1 of "is a noun" (NOUN or PROPN)."""
  pairs = [
    (given in tagging.NOUN_TAGS, right in tagging.NOUN_TAGS)
    for given, right in _pairs(tagger, sentences)
  ]
  hits = sum(given and right for given, right in pairs)
  given, right = (sum(column) for column in zip(*pairs, strict=True))
  return {
    "precision": hits / max(1, given),
    "recall": hits / max(1, right),
    "f1": 2 * hits / max(1, given + right),
  }


def words_per_second(tagger: tagging.Tagger, sentences: Sequence[tagged.Sentence]) -> float:
  """Words tagged per second of processor time, after a first batch to warm up."""
  words = [list(sentence.words) for sentence in sentences]
  tagger.tag(words[:1000])
  start = time.process_time()
  tagger.tag(words)
  return sum(map(len, words)) / (time.process_time() - start)


def _pairs(tagger: tagging.Tagger, sentences: Sequence[tagged.Sentence]):
  """(given tag, right tag) of every word."""
  given = tagger.tag([list(sentence.words) for sentence in sentences])
  for tags, sentence in zip(given, sentences, strict=True):
    yield from zip(tags, sentence.tags, strict=True)
