import numpy as np
import pytest

from gcap_tf.metrics import errors, grounding_events, results_io
from tests.metrics import grounding_oracle as oracle


def shares(references, results):
  return errors.error_shares(
    grounding_events.collect(
      results_io.read_references("r.json", {"annotations": references}),
      results_io.read_submission("s.json", {"results": results}).results,
      oracle.lemma,
    )
  )


def test_one_word_of_each_kind_by_hand():
  names = ["dog", "cat", "man", "ball", "tree"]
  reference = {
    "image_id": 1,
    "captions": [
      {
        "tokens": [*names, "hats"],
        "process_idx": [0, 1, 2, 3, 4],
        "process_clss": names,
        "process_bnd_box": [[100, 100, 199, 199]] * 5,
      }
    ],
  }
  words = {
    "dog": [100, 100, 199, 190],  # correct
    "cat": [120, 120, 140, 140],  # partial
    "man": [0, 0, 500, 500],  # other: enlarged
    "ball": [180, 180, 300, 300],  # other: deviated
    "bird": [0, 0, 50, 50],  # hallucinated
    "hat": [0, 0, 50, 50],  # mentioned without a box: left out
  }
  prediction = {"clss": list(words), "idx_in_sent": [0] * 6, "bbox": list(words.values())}
  absent = reference | {"image_id": 2}
  result = shares([reference, absent], {"1": [prediction]})
  sixth = pytest.approx(1 / 6)
  assert (result.missing, result.hallucinated, result.correct) == (sixth, sixth, sixth)
  assert (result.partial, result.other) == (sixth, pytest.approx(2 / 6))
  assert (result.enlarged, result.deviated, result.words) == (sixth, sixth, 6)


@pytest.mark.parametrize("seed", range(30))
def test_kinds_share_one_denominator_and_agree_with_the_loops(seed):
  references, submission = oracle.random_evaluation(seed, "gen")
  annotations, results = references["annotations"], submission["results"]
  result = shares(annotations, results)
  counts = dict.fromkeys(("missing", "hallucinated", "correct", "partial", "other"), 0)
  for annotation in annotations:
    if str(annotation["image_id"]) not in results:
      continue
    predicted = results[str(annotation["image_id"])][0]
    for sentence in annotation["captions"]:
      annotated = list(
        zip(
          sentence["process_clss"],
          sentence["process_idx"],
          sentence["process_bnd_box"],
          strict=True,
        )
      )
      counts["missing"] += sum(name not in predicted["clss"] for name, _, _ in annotated)
      for name, box in zip(predicted["clss"], predicted["bbox"], strict=True):
        targets = sorted((index, target) for other, index, target in annotated if other == name)
        if targets:
          target = targets[0][1]
          inside = all(box[k] >= target[k] - 1 for k in (0, 1)) and all(
            box[k] <= target[k] + 1 for k in (2, 3)
          )
          if oracle.official_iou(box, target) > 0.5:
            counts["correct"] += 1
          elif inside:
            counts["partial"] += 1
          else:
            counts["other"] += 1
        else:
          mentioned = {
            oracle.lemma(token)
            for index, token in enumerate(sentence["tokens"])
            if index not in sentence["process_idx"] and token
          }
          counts["hallucinated"] += oracle.lemma(name) not in mentioned
  total = sum(counts.values())
  assert result.words == total
  values = result.as_json()
  for name, count in counts.items():
    assert values[f"error_{name}"] == pytest.approx(count / max(total, 1))
  assert np.isclose(sum(values.values()), 1.0 if total else 0.0)
