import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics import diversity, results_io


def test_words_and_equal_captions_by_hand():
  captions = [["a", "dog"], ["a", "dog"], ["a", "cat", "sits"], []]
  result = diversity.diversity(captions, training=[["a", "dog"]])
  assert result.vocabulary == 4
  assert result.unique == 3 / 4
  assert result.novel == 2 / 4
  assert result.words == 7 / 4
  assert result.text() == (
    "distinctiveness: 4 words used, 1.8 a caption; 75.0% of the captions are distinct; "
    "50.0% are not in the training set"
  )


def test_without_training_captions_novelty_is_left_out():
  values = diversity.diversity([["a"]]).as_json()
  assert values == {"vocabulary_used": 1, "unique_captions": 1.0, "words_per_caption": 1.0}


def test_no_captions_are_refused():
  with pytest.raises(errors.UserError, match="at least one caption"):
    diversity.diversity([])


def reference(image_id, *sentences):
  captions = []
  for text, name in sentences:
    words = int(name != "")
    captions.append(
      results_io.ReferenceCaption(
        tuple(text.split()), (0,) * words, (name,) * words, np.zeros((words, 4))
      )
    )
  return results_io.Reference(image_id, tuple(captions))


def caption(*names):
  return (results_io.PredictedCaption(names, tuple(range(len(names))), np.zeros((len(names), 4))),)


def test_an_object_is_there_if_any_reference_has_or_mentions_it():
  references = [
    reference("1", ("dog here", "dog"), ("two balls", "")),
    reference("2", ("cat", "cat")),
    reference("3", ("man", "man")),
  ]
  predictions = {"1": caption("dog", "ball", "tree"), "2": caption("dog"), "4": caption("x")}
  result = diversity.hallucination(references, predictions, lambda word: word.rstrip("s"))
  # Picture 1: tree. Picture 2: dog. Picture 3 has no caption, picture 4 no reference.
  assert result.as_json() == {"chair_i": 2 / 4, "chair_s": 1.0}
  assert (result.mentions, result.captions) == (4, 2)
  assert "50.0% of 4 objects named are not there, in 100.0% of 2 captions" in result.text()


def test_captions_that_name_nothing_hallucinate_nothing():
  result = diversity.hallucination([reference("1", ("dog", "dog"))], {"1": caption()}, str)
  assert (result.chair_i, result.chair_s) == (0.0, 0.0)
