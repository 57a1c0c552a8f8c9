import numpy as np
import pytest

from gcap_tf.metrics import grounding_events, results_io
from gcap_tf.metrics.grounding_events import ABSENT, IGNORED, LANGUAGE, MATCHED

BOX = np.array([[0, 0, 9, 9]], np.float32)


def sentence(tokens, *words):
  return results_io.ReferenceCaption(
    tuple(tokens.split(" ")),
    tuple(index for index, _ in words),
    tuple(name for _, name in words),
    np.repeat(BOX, len(words), 0),
  )


def caption(*names):
  return results_io.PredictedCaption(names, tuple(range(len(names))), np.repeat(BOX, len(names), 0))


def collect(references, predictions):
  return grounding_events.collect(references, predictions, lambda word: word.rstrip("s"))


def test_each_reference_sentence_judges_each_predicted_word():
  picture = results_io.Reference(
    "1", (sentence("a dog", (1, "dog")), sentence("two dogs here"), sentence("a cat", (1, "cat")))
  )
  events = collect([picture], {"1": (caption("dog", "dog"),)})
  # Annotated in the first, mentioned in the second, unknown to the third.
  expected = [MATCHED, MATCHED, IGNORED, IGNORED, LANGUAGE, LANGUAGE]
  assert events.precision.kind.tolist() == expected
  assert events.recall.kind.tolist() == [MATCHED, LANGUAGE]
  assert events.recall.hit.tolist() == [True, False]
  assert events.annotated_classes == 2


def test_absent_pictures_have_recall_events_only_and_no_classes():
  pictures = [
    results_io.Reference("1", (sentence("a dog", (1, "dog")),)),
    results_io.Reference("2", (sentence("a cat", (1, "cat")),)),
  ]
  events = collect(pictures, {"1": (caption("dog"),)})
  assert events.precision.kind.tolist() == [MATCHED]
  assert events.recall.kind.tolist() == [MATCHED, ABSENT]
  assert (events.annotated_classes, events.images, events.submitted) == (1, 2, 1)


def test_annotated_words_and_empty_tokens_are_not_mentions():
  words = sentence("dogs  here", (0, "dog"))
  assert words.tokens == ("dogs", "", "here")
  assert grounding_events.unannotated_lemmas(words, lambda w: w.rstrip("s")) == {"here"}


def test_the_first_caption_of_a_picture_counts():
  picture = results_io.Reference("1", (sentence("a dog", (1, "dog")),))
  events = collect([picture], {"1": (caption("dog"), caption("cat"))})
  assert events.classes == ("dog",)


@pytest.mark.parametrize("threshold, hit", [(0.5, False), (0.49, True)])
def test_the_threshold_is_strict(threshold, hit):
  picture = results_io.Reference("1", (sentence("a dog", (1, "dog")),))
  half = results_io.PredictedCaption(("dog",), (1,), np.array([[0, 0, 4, 9]], np.float32))
  events = grounding_events.collect([picture], {"1": (half,)}, str, threshold)
  assert events.precision.hit.tolist() == [hit]


def test_partial_groundings_can_count_as_hits():
  picture = results_io.Reference("1", (sentence("a dog", (1, "dog")),))
  small = results_io.PredictedCaption(("dog",), (1,), np.array([[2, 2, 5, 5]], np.float32))
  events = collect([picture], {"1": (small,)}).precision
  assert events.partial.tolist() == [True]
  assert events.with_partial_as_hits().hit.tolist() == [True]
  assert events.with_partial_as_hits().partial.tolist() == [False]
