"""Tests of gcap_tf/evaluation/human_study.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.evaluation import human_study
from gcap_tf.metrics import results_io

PICTURES = {
  str(n): human_study.Picture(100, 50, (("a", "dog", "runs"), ("the", "dog"))) for n in range(6)
}


def submission(left, mode):
  """Every picture has its dog at `left` in both of its sentences, and a cat."""
  box = np.array([left, 0, left + 10, 25], np.float32)
  caption = results_io.predicted_caption([None, "dog", "cat"], np.stack([box] * 3))
  return results_io.Submission({image: (caption, caption) for image in PICTURES}, mode)


def make(mode="GT", images=0, raters=4, **options):
  first, second = submission(10, mode), submission(50, mode)
  return human_study.make_items(first, second, PICTURES, images, raters, **options)


def test_given_sentences_are_compared_word_by_word():
  items = make()
  # "cat" is the third word: the second sentence has two.
  assert len(items) == 6 * 3
  dogs = [item for item in items if item.index == 1]
  assert {item.word for item in dogs} == {"dog"} and dogs[0].sentence == ("a", "dog", "runs")
  for item in items:
    first, second = (item.a, item.b) if item.first_is_a else (item.b, item.a)
    assert first == (0.1, 0.0, 0.2, 0.5) and second == (0.5, 0.0, 0.6, 0.5)


def test_generated_captions_are_compared_by_the_classes_they_share():
  items = make(mode="gen", images=2)
  assert len(items) == 4 and {item.word for item in items} == {"dog", "cat"}
  assert all(item.sentence == () for item in items)


def test_every_picture_goes_to_two_raters_and_the_order_is_random_by_sentence():
  items = make()
  by_picture = {item.image_id: item.raters for item in items}
  assert all(len(set(raters)) == 2 for raters in by_picture.values())
  counts = [sum(n in raters for raters in by_picture.values()) for n in (1, 2, 3, 4)]
  assert counts == [3, 3, 3, 3]
  orders = {}
  for item in items:
    orders.setdefault(item.key.rpartition("/")[0], set()).add(item.first_is_a)
  assert all(len(found) == 1 for found in orders.values())
  assert len(set().union(*orders.values())) == 2
  assert make() == items != make(seed=2)


def answer(item, rater, choice):
  return {"item": item.key, "rater": rater, "answer": choice}


def test_the_summary_turns_sides_into_models_and_measures_agreement():
  items = make(mode="gen", images=2)
  one, two, three, four = items

  def for_first(item):
    return "A" if item.first_is_a else "B"

  answers = [
    answer(one, one.raters[0], "equal"),
    answer(one, one.raters[0], for_first(one)),  # The later answer counts.
    answer(one, one.raters[1], for_first(one)),
    answer(two, two.raters[0], "equal"),
    answer(two, two.raters[1], for_first(two)),
    answer(three, three.raters[0], "A"),
    answer(three, three.raters[1], "B"),
    answer(four, four.raters[0], "equal"),
  ]
  found = human_study.summarise(items, answers, ("Baseline", "Cyclical"))
  assert (found.ratings, found.asked, found.pairs) == (7, 8, 3)
  assert found.first == pytest.approx(4 / 7) and found.second == pytest.approx(1 / 7)
  assert found.equal == pytest.approx(2 / 7)
  assert found.same == found.ambiguous == found.opposite == pytest.approx(1 / 3)
  assert "| Cyclical is better | 14.3 |" in found.text()
  assert "33.3 % are the same" in found.text()


def test_what_is_no_answer_is_refused():
  items = make(mode="gen", images=1)
  known = {item.key: item for item in items}
  good = answer(items[0], items[0].raters[0], "A")
  assert human_study.check_answer(known, {**good, "more": 1}) == good
  for change in ({"item": "x"}, {"rater": 99}, {"answer": "C"}):
    with pytest.raises(errors.UserError, match="no such answer"):
      human_study.check_answer(known, {**good, **change})


def test_submissions_without_a_common_word_are_refused():
  with pytest.raises(errors.UserError, match="share no word"):
    human_study.make_items(submission(1, "GT"), submission(2, "GT"), {}, 0, 2)
  with pytest.raises(errors.UserError, match="needs 2 raters"):
    make(raters=1)
