import os
import pathlib
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gcap_tf import errors
from gcap_tf.data import reference_files
from gcap_tf.data.readers import flickr_entities
from gcap_tf.metrics import grounding, grounding_events, results_io
from gcap_tf.text import lemmas, object_words
from tests.metrics import grounding_oracle as oracle


def read(references, submission):
  return (
    results_io.read_references("r.json", references),
    results_io.read_submission("s.json", submission).results,
  )


def reference(image_id, *captions):
  return {
    "image_id": image_id,
    "captions": [
      {
        "tokens": tokens.split(),
        "process_idx": [index for index, _, _ in words],
        "process_clss": [name for _, name, _ in words],
        "process_bnd_box": [box for _, _, box in words],
      }
      for tokens, words in captions
    ],
  }


def predicted(*words):
  return {
    "clss": [name for name, _ in words],
    "idx_in_sent": list(range(len(words))),
    "bbox": [box for _, box in words],
  }


HERE, THERE = [0, 0, 9, 9], [50, 50, 79, 79]


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_generated_sentences_equal_the_loops_of_the_evaluator(seed):
  references, submission = oracle.random_evaluation(seed, "gen")
  result = grounding.score(*read(references, submission), oracle.lemma)
  for mode, scores in (("all", result.all), ("loc", result.loc)):
    expected = oracle.generated(references["annotations"], submission["results"], mode)
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_given_sentences_equal_the_loops_of_the_evaluator(seed):
  references, submission = oracle.random_evaluation(seed, "GT")
  if not any(c["process_idx"] for a in references["annotations"] for c in a["captions"]):
    return
  accuracy = grounding.attention_accuracy(*read(references, submission))
  expected = oracle.given_sentences(references["annotations"], submission["results"])
  assert accuracy.macro == pytest.approx(expected, abs=1e-12)


def test_fractional_boxes_are_judged_in_single_precision():
  rng = np.random.default_rng(0)
  words = []
  for _ in range(400):
    x, y, w, h = rng.uniform(0, 300, 4)
    half = x + (w + 1) / 2 - 1  # IoU within rounding of one half
    words.append(([x, y, x + w, y + h], [x, y, half, y + h]))
  references = [reference(n, ("dog", [(0, "dog", box)])) for n, (box, _) in enumerate(words)]
  results = {str(n): [predicted(("dog", box))] for n, (_, box) in enumerate(words)}
  value = {"annotations": references}, {"results": results}
  score = grounding.score(*read(*value), oracle.lemma)
  assert 0.1 < score.all.precision < 0.9
  assert score.all.precision == oracle.generated(references, results, "all")[0]


def test_hallucinated_ignored_repeated_and_missing_words_by_hand():
  references = {
    "annotations": [
      reference(
        1,
        ("a dog with balls", [(1, "dog", HERE)]),  # "ball" is mentioned without a box
        ("a man and a dog", [(4, "dog", THERE), (1, "man", HERE)]),
      ),
      reference(2, ("a cat", [(1, "cat", HERE)])),  # not submitted
    ]
  }
  submission = {
    "results": {"1": [predicted(("dog", HERE), ("ball", HERE), ("dog", THERE))]},
    "eval_mode": "gen",
  }
  result = grounding.score(*read(references, submission), oracle.lemma)
  # Precision: dog 1, 0 against the first sentence, 0, 1 against the second; ball ignored in
  # the first, hallucinated in the second. Classes of submitted pictures: dog, man.
  assert result.all.precision == pytest.approx((2 / 4 + 0) / 2)
  # Recall: dog by its first box, 1 then 0; man missed; cat's picture absent.
  assert result.all.recall == pytest.approx((1 / 2 + 0 + 0) / 2)
  assert result.loc.precision == pytest.approx((2 / 4) / 2)
  assert result.loc.recall == pytest.approx((1 / 2 + 0) / 2)
  assert result.all_micro.precision == pytest.approx(2 / 5)
  assert result.all_micro.recall == pytest.approx(1 / 4)
  assert [(row.name, row.predicted, row.annotated) for row in result.per_class] == [
    ("dog", 4, 2),
    ("cat", 0, 1),
    ("man", 0, 1),
  ]
  assert (result.events.images, result.events.submitted) == (2, 1)


def test_the_smallest_position_of_a_class_is_the_target_whatever_the_order():
  references = {"annotations": [reference(1, ("dog x dog", [(2, "dog", THERE), (0, "dog", HERE)]))]}
  submission = {"results": {"1": [predicted(("dog", HERE))]}}
  result = grounding.score(*read(references, submission), oracle.lemma)
  assert (result.all.precision, result.all.recall) == (1.0, 0.5)


def test_nothing_right_scores_zero_instead_of_dividing_by_zero():
  references = {"annotations": [reference(1, ("dog", [(0, "dog", HERE)]))]}
  submission = {"results": {"1": [predicted(("cat", HERE))]}}
  result = grounding.score(*read(references, submission), oracle.lemma)
  assert result.all.f1 == result.loc.f1 == 0.0


def test_partial_groundings_lift_the_bound_only():
  references = {"annotations": [reference(1, ("dog", [(0, "dog", [0, 0, 99, 99])]))]}
  submission = {"results": {"1": [predicted(("dog", [10, 10, 20, 20]))]}}
  values = grounding.score(*read(references, submission), oracle.lemma).as_json()
  assert values["f1_all"] == values["f1_loc"] == 0.0
  assert values["f1_all_partial_as_correct"] == values["f1_loc_partial_as_correct"] == 1.0


def test_other_pictures_are_refused_with_ids_of_both_sides():
  references = {"annotations": [reference(n, ("dog", [])) for n in (11, 12, 13, 14)]}
  submission = {"results": {f"im{n}": [predicted()] for n in range(4)}}
  for call in (
    lambda r, p: grounding.score(r, p, oracle.lemma),
    grounding.attention_accuracy,
  ):
    with pytest.raises(errors.UserError, match=r"have im0, im1, im2, references have 11, 12, 13;"):
      call(*read(references, submission))


def test_given_sentences_need_a_prediction_each():
  references = {"annotations": [reference(7, ("dog", [(0, "dog", HERE)]), ("a", []))]}
  submission = {"results": {"7": [predicted(("dog", HERE))]}}
  with pytest.raises(errors.UserError, match="image 7: 1 predicted captions for 2"):
    grounding.attention_accuracy(*read(references, submission))


def test_predictions_beyond_the_last_given_sentence_do_not_count():
  references = {"annotations": [reference(7, ("dog", [(0, "dog", HERE)]))]}
  submission = {"results": {"7": [predicted(("dog", HERE))] + [predicted(("dog", THERE))] * 4}}
  assert grounding.attention_accuracy(*read(references, submission)).macro == 1.0


def test_classes_group_by_training_frequency():
  rows = [
    grounding.ClassScores(name, 1, annotated, 0.0, 0.0, f1)
    for name, annotated, f1 in (("dog", 9, 0.6), ("man", 5, 0.2), ("hat", 1, 0.1))
  ]
  groups = grounding.frequency_groups(rows, size=2)
  assert [(g.first, g.last, g.least_frequent) for g in groups] == [(1, 2, 5), (3, 3, 1)]
  assert [g.f1 for g in groups] == pytest.approx([0.4, 0.1])
  groups = grounding.frequency_groups(rows, {"hat": 50, "man": 20}, size=2)
  assert [g.f1 for g in groups] == pytest.approx([0.15, 0.6])


def test_ranks_count_training_classes_that_the_split_lacks():
  rows = [grounding.ClassScores("hat", 1, 1, 0.0, 0.0, 0.3)]
  training = {"dog": 9, "man": 5, "hat": 1}
  (group,) = grounding.frequency_groups(rows, training, size=2)
  assert (group.first, group.last, group.least_frequent, group.f1) == (3, 3, 1, 0.3)
  assert group.as_json() == {"f1_all_classes_3_3": 0.3}


def test_thirty_thousand_captions_take_seconds():
  rng = np.random.default_rng(0)
  names = [f"class{n}" for n in range(480)]

  def words(count):
    corner = rng.uniform(0, 200, (count, 2))
    box = np.concatenate([corner, corner + rng.uniform(0, 200, (count, 2))], 1).astype(np.float32)
    return tuple(names[i] for i in rng.integers(0, 480, count)), box

  tokens = tuple(f"class{n}" for n in range(12))
  references, predictions = [], {}
  for n in range(6000):
    captions = []
    for _ in range(5):
      classes, box = words(3)
      captions.append(results_io.ReferenceCaption(tokens, (1, 4, 7), classes, box))
    references.append(results_io.Reference(str(n), tuple(captions)))
    classes, box = words(3)
    predictions[str(n)] = (results_io.PredictedCaption(classes, (0, 1, 2), box),)
  started = time.process_time()
  grounding.score(references, predictions, oracle.lemma)
  assert time.process_time() - started < 5


def test_events_know_enlarged_boxes():
  value = (
    {"annotations": [reference(1, ("dog", [(0, "dog", [20, 20, 30, 30])]))]},
    {"results": {"1": [predicted(("dog", [0, 0, 99, 99]))]}},
  )
  events = grounding_events.collect(*read(*value), oracle.lemma)
  assert events.precision.enlarged.tolist() == [True]
  assert events.precision.partial.tolist() == [False]


def test_annotations_of_flickr30k_entities_score_as_in_the_loops(monkeypatch):
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  data = pathlib.Path(os.environ["GCAP_DATA"])
  classes = object_words.ObjectClasses(
    (data / "flickr30k_class_name.txt").read_text().replace(",", "\n").split()
  )
  source = flickr_entities.FlickrEntities(data / "flickr30k_entities", classes)
  pictures = list(source.read(["val"], max_images=60, progress=False))
  rows = [reference_files.reference_row(picture) for picture in pictures]
  # Each picture's first caption is the prediction; its boxes are shifted for every other one.
  results = {}
  for number, row in enumerate(rows):
    said = row["captions"][0]
    boxes = [[x + 9 * (number % 2) for x in box] for box in said["process_bnd_box"]]
    words = {"clss": said["process_clss"], "idx_in_sent": said["process_idx"], "bbox": boxes}
    results[str(row["image_id"])] = [words]
  monkeypatch.setattr(oracle, "lemma", lemmas.lemma)
  score = grounding.score(*read({"annotations": rows}, {"results": results}), lemmas.lemma)
  for mode, scores in (("all", score.all), ("loc", score.loc)):
    expected = oracle.generated(rows, results, mode)
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx(expected, abs=1e-9)
  assert 0.1 < score.all.f1 < score.loc.f1 < 1
