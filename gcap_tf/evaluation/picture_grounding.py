"""What each picture adds to grounding scores, for `metrics/bootstrap/resampling.py`.

The words of one picture, or of one segment of a video, are judged as the evaluator judges those of
all (`metrics/grounding.py`, `metrics/activitynet/anet_entities.py`), so that the sums over
pictures give the same figures.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gcap_tf.metrics import errors as error_kinds
from gcap_tf.metrics import grounding, grounding_events, results_io
from gcap_tf.metrics.activitynet import anet_entities, anet_io
from gcap_tf.metrics.bootstrap import resampling

_ERRORS = ("missing", "hallucinated", "correct", "partial", "other")
_SIDES = ("precision", "recall")


def generated(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
) -> dict[str, resampling.Statistic]:
  """F1_all, F1_loc and the shares of the five kinds of words."""
  return _statistics([grounding_events.collect([each], predictions, lemma) for each in references])


def generated_segments(
  references: anet_io.References, predictions: anet_io.Predictions, lemma: Callable[[str], str]
) -> dict[str, resampling.Statistic]:
  """The same of segments, in the order of the references."""
  return _statistics(
    [anet_entities.collect(each, predictions, lemma)[0] for each in _segments(references)]
  )


def _segments(references: anet_io.References) -> list[anet_io.References]:
  """References of one segment each."""
  return [
    {video: {name: segment}}
    for video, segments in references.items()
    for name, segment in segments.items()
  ]


def _statistics(
  collected: Sequence[grounding_events.Collected],
) -> dict[str, resampling.Statistic]:
  names = sorted({name for found in collected for name in found.classes})
  columns = {name: column for column, name in enumerate(names)}
  shape = (len(collected), len(names))
  statistics = {}
  for mode in ("all", "loc"):
    arrays = {f"{side}_{what}": np.zeros(shape) for side in _SIDES for what in ("hits", "words")}
    arrays["annotated"] = np.zeros(shape)
    for row, found in enumerate(collected):
      places = np.array([columns[name] for name in found.classes], np.int64)
      for side in _SIDES:
        events = getattr(found, side)
        chosen = grounding.counted(events, mode)
        where = places[events.class_id[chosen]]
        np.add.at(arrays[f"{side}_words"][row], where, 1)
        np.add.at(arrays[f"{side}_hits"][row], where, events.hit[chosen])
      np.add.at(arrays["annotated"][row], places[found.recall.class_id], 1)
    statistics[f"f1_{mode}"] = resampling.macro_f1(**arrays)
  return statistics | _shares(collected)


def _shares(collected: Sequence[grounding_events.Collected]) -> dict[str, resampling.Statistic]:
  found = [error_kinds.error_shares(each) for each in collected]
  words = np.array([shares.words for shares in found], float)
  return {
    f"error_{name}": resampling.ratio(
      np.round(words * [getattr(shares, name) for shares in found]), words
    )
    for name in _ERRORS
  }


def given(
  references: Sequence[results_io.Reference], predictions: results_io.Predictions
) -> resampling.Statistic:
  """Attention accuracy on given sentences."""
  return _hit_rates(
    [
      grounding.attention_accuracy([each], predictions).per_class
      if any(caption.classes for caption in each.captions)
      else {}
      for each in references
    ]
  )


def given_segments(
  references: anet_io.References, predictions: anet_io.Predictions
) -> resampling.Statistic:
  """Attention accuracy on the given sentences of segments."""
  return _hit_rates(
    [
      anet_entities.attention_accuracy(each, predictions).per_class
      if any(anet_entities.annotated_words(s) for of in each.values() for s in of.values())
      else {}
      for each in _segments(references)
    ]
  )


def _hit_rates(per_picture: Sequence[Mapping[str, tuple[float, int]]]) -> resampling.Statistic:
  """Accuracy from every picture's hit rates and words by class."""
  names = sorted({name for found in per_picture for name in found})
  columns = {name: column for column, name in enumerate(names)}
  hits, words = np.zeros([2, len(per_picture), len(names)])
  for row, found in enumerate(per_picture):
    for name, (rate, count) in found.items():
      hits[row, columns[name]], words[row, columns[name]] = round(rate * count), count
  return resampling.by_class(hits, words)
