import numpy as np
import pytest

from gcap_tf.metrics import grounding_per_sentence, results_io
from tests.metrics import grounding_oracle as oracle


def naive(annotations, results, mode, recall_over):
  """Appendix A of Cyclical over the pool, in plain loops."""
  precisions, recalls, f1s = [], [], []
  for annotation in annotations:
    if str(annotation["image_id"]) not in results:
      continue
    predicted = results[str(annotation["image_id"])][0]
    pool, mentioned = [], set()
    for sentence in annotation["captions"]:
      pool += list(zip(sentence["process_clss"], sentence["process_bnd_box"], strict=True))
      for index, token in enumerate(sentence["tokens"]):
        if index not in sentence["process_idx"] and token:
          mentioned.add(oracle.lemma(token))
    classes = list(dict.fromkeys(name for name, _ in pool))
    judged = []
    for name, box in zip(predicted["clss"], predicted["bbox"], strict=True):
      if name in classes:
        judged.append(
          int(any(oracle.official_iou(box, b) > 0.5 for other, b in pool if other == name))
        )
      elif oracle.lemma(name) not in mentioned and mode == "all":
        judged.append(0)
    sought = []
    wanted = [(n, [b for m, b in pool if m == n]) for n in classes]
    if recall_over == "words":
      wanted = [(n, [b]) for n, b in pool]
    for name, boxes in wanted:
      if name in predicted["clss"]:
        first = predicted["bbox"][predicted["clss"].index(name)]
        sought.append(int(any(oracle.official_iou(first, b) > 0.5 for b in boxes)))
      elif mode == "all":
        sought.append(0)
    if not sought:
      continue
    p = sum(judged) / len(judged) if judged else 0.0
    r = sum(sought) / len(sought)
    precisions.append(p)
    recalls.append(r)
    f1s.append(2 * p * r / (p + r) if p + r else 0.0)
  if not f1s:
    return 0.0, 0.0, 0.0
  return tuple(sum(values) / len(values) for values in (precisions, recalls, f1s))


@pytest.mark.parametrize("recall_over", ["classes", "words"])
def test_equals_plain_loops_over_the_pool(recall_over):
  for seed in range(150):
    references, submission = oracle.random_evaluation(seed, "gen")
    result = grounding_per_sentence.score(
      results_io.read_references("r.json", references),
      results_io.read_submission("s.json", submission).results,
      oracle.lemma,
      recall_over,
    )
    for mode, scores in (("all", result.all), ("loc", result.loc)):
      expected = naive(references["annotations"], submission["results"], mode, recall_over)
      assert (scores.precision, scores.recall, scores.f1) == pytest.approx(expected, abs=1e-12)


def test_the_papers_fractions_on_one_sentence():
  # The pool has man, dog, hat; the caption says man (well placed), hat (badly), bird.
  # A = 3, B = 3, C = D = 2, E = 1.
  box, far = [0, 0, 9, 9], [50, 50, 59, 59]
  words = {"tokens": ["man", "dog", "hat"], "process_idx": [0, 1, 2]}
  caption = words | {"process_clss": ["man", "dog", "hat"], "process_bnd_box": [box] * 3}
  prediction = {
    "clss": ["man", "hat", "bird"],
    "idx_in_sent": [0, 1, 2],
    "bbox": [box, far, box],
  }
  result = grounding_per_sentence.score(
    results_io.read_references("r", {"annotations": [{"image_id": 1, "captions": [caption]}]}),
    results_io.read_submission("s", {"results": {"1": [prediction]}}).results,
    oracle.lemma,
  )
  values = result.as_json()
  assert values["precision_all_per_sentence"] == pytest.approx(1 / 3)
  assert values["recall_all_per_sentence"] == pytest.approx(1 / 3)
  assert values["precision_loc_per_sentence"] == values["recall_loc_per_sentence"] == 0.5
  assert values["f1_loc_per_sentence"] == 0.5
  assert result.sentences == (1, 1)


def test_unannotated_sentences_can_stay_in_the_denominator():
  events = [grounding_per_sentence.SentenceEvents((1,), (1,))]
  scores, count = grounding_per_sentence.mean_scores(events, "all", unannotated=3)
  assert (scores.f1, count) == (0.25, 4)
  assert grounding_per_sentence.mean_scores([], "all")[0].f1 == 0.0


def test_sentences_without_a_word_to_find_are_left_out():
  events = [
    grounding_per_sentence.SentenceEvents((1,), (1,)),
    grounding_per_sentence.SentenceEvents((None,), (None,)),
  ]
  assert grounding_per_sentence.mean_scores(events, "loc")[1] == 1
  scores, count = grounding_per_sentence.mean_scores(events, "all")
  assert (count, scores.precision) == (2, np.mean([1, 0]))
