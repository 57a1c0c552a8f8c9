import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics import grounding, grounding_per_sentence
from gcap_tf.metrics.activitynet import anet_entities, anet_io
from tests.metrics import anet_oracle, grounding_oracle


def read(references, submission):
  return (
    anet_io.read_references("r.json", references),
    anet_io.read_submission("s.json", submission)[0],
  )


def figures(references, predictions, mode):
  events, sentences, strangers = anet_entities.collect(
    references, predictions, grounding_oracle.lemma
  )
  by_class = grounding.macro_scores(events, mode)
  per_sentence, _ = grounding_per_sentence.mean_scores(sentences, mode, strangers)
  return [
    getattr(scores, name)
    for scores in (by_class, per_sentence)
    for name in ("precision", "recall", "f1")
  ]


@pytest.mark.parametrize("mode", ["all", "loc"])
def test_generated_sentences_equal_the_loops_of_the_evaluator(mode):
  seen = []
  for seed in range(150):
    references, submission = anet_oracle.random_evaluation(seed)
    expected = anet_oracle.generated(references["annotations"], submission["results"], mode)
    found = figures(*read(references, submission), mode)
    assert found == pytest.approx(expected, abs=1e-12), seed
    seen.append(expected)
  assert (np.mean(seen, axis=0) > 0.02).all()


def test_given_sentences_equal_the_loops_of_the_evaluator():
  seen = []
  for seed in range(150):
    references, submission = anet_oracle.random_evaluation(seed)
    accuracy = anet_entities.attention_accuracy(*read(references, submission))
    expected = anet_oracle.given_sentences(references["annotations"], submission["results"])
    assert accuracy.macro == pytest.approx(expected, abs=1e-12), seed
    seen.append(expected)
  assert np.mean(seen) > 0.02


def test_only_the_frame_of_a_box_counts_and_any_box_of_a_word_will_do():
  here, away = [0, 0, 9, 9], [50, 50, 59, 59]
  segment = {
    "tokens": ["dog"],
    "frame_ind": [3, 7],
    "process_bnd_box": [here, here],
    "process_idx": [[0], [0]],
    "process_clss": [["dog"], ["dog"]],
  }
  reference = anet_io.read_references("r", {"annotations": {"v": {"segments": {"0": segment}}}})[
    "v"
  ]["0"]
  for frame, expected in ((3, True), (7, True), (4, False)):
    frames = np.array([here if n == frame else away for n in range(10)], np.float32)
    assert anet_entities.is_hit(reference, 0, frames) is expected


def test_other_videos_are_refused_with_ids_of_both_sides():
  references, _ = anet_oracle.random_evaluation(0)
  with pytest.raises(errors.UserError, match="predictions have v_x, references have v_0"):
    anet_entities.check_overlap(anet_io.read_references("r", references), {"v_x": {}})


def test_a_box_inside_the_words_box_is_partial_in_the_frame_of_that_box():
  reference = anet_io.Segment(
    ("a", "man"),
    np.array([[0, 0, 100, 100]], np.float32),
    np.array([3]),
    (("man",),),
    ((1,),),
  )
  inside = np.zeros((10, 4), np.float32)
  inside[3] = [10, 10, 40, 40]
  outside = np.roll(inside, 1, 0) + 300
  assert anet_entities.is_partial(reference, 1, inside)
  assert not anet_entities.is_partial(reference, 1, outside)
  predicted = anet_io.PredictedSegment(("man",), (1,), inside[None])
  events, _, _ = anet_entities.collect({"v": {"0": reference}}, {"v": {"0": predicted}}, str)
  assert events.precision.partial.tolist() == [True]
  assert not events.precision.hit.any()
