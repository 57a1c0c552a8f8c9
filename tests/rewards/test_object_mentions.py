"""Tests of gcap_tf/rewards/object_mentions.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.rewards import object_mentions
from gcap_tf.text import vocabulary as vocabularies

VOCABULARY = vocabularies.Vocabulary("captioner", ("", "a", "dog", "dogs", "hat", "runs", "UNK"))
CLASSES = object_mentions.classes_of(VOCABULARY, ("hat", "dog"))
REFERENCES = {
  "p": np.array([[1, 2, 5, 0], [1, 3, 5, 0]]),
  "q": np.array([[1, 2, 0, 0], [1, 4, 0, 0]]),
}


def test_words_name_the_class_of_their_lemma():
  assert CLASSES == [0, 0, 2, 2, 1, 0, 0]


def test_named_things_pay_once_and_others_cost():
  scorer = object_mentions.ObjectMentions(REFERENCES, CLASSES, cost=0.25)
  # The dog is in 2 pictures, the hat in 1; the mean over the 3 times is (2 + 2 + 1) / 3.
  dog, hat = np.sqrt(5 / 3 / 2), np.sqrt(5 / 3)
  captions = np.array([[1, 2, 3, 0], [1, 4, 0, 0], [1, 2, 4, 0], [1, 5, 0, 0]])
  np.testing.assert_allclose(
    scorer.score(captions, ["p", "p", "q", "q"]),
    [0.75 * dog, -0.25 * hat, 0.75 * (dog + hat), 0.0],
  )


def test_words_after_the_end_do_not_count():
  scorer = object_mentions.ObjectMentions(REFERENCES, CLASSES)
  captions = np.array([[1, 0, 2, 2], [0, 0, 4, 4]])
  np.testing.assert_array_equal(scorer.score(captions, ["p", "q"]), [0.0, 0.0])


def test_the_weight_of_a_rare_class_has_a_limit():
  weights = object_mentions.class_weights(np.array([10_000, 1]))
  assert weights[0] == pytest.approx(1.0, abs=1e-3) and weights[1] == 4.0


def test_references_without_a_class_and_unknown_pictures_are_refused():
  with pytest.raises(errors.UserError, match="no reference names an object class"):
    object_mentions.ObjectMentions({"p": np.array([[1, 5, 0]])}, CLASSES)
  with pytest.raises(errors.UserError, match="picture r has no references"):
    object_mentions.ObjectMentions(REFERENCES, CLASSES).score(np.array([[1, 0]]), ["r"])
