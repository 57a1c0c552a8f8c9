import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.metrics import attention


def box(*numbers):
  return np.array(numbers, np.float32)


def caption(words, phrases=(), objects=()):
  return records.Caption("c1", " ".join(words), tuple(words), (), tuple(phrases), tuple(objects))


def iou(a, b):
  width = min(a[2], b[2]) - max(a[0], b[0])
  height = min(a[3], b[3]) - max(a[1], b[1])
  common = max(width, 0) * max(height, 0)
  union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
  return common / union


def naive(examples, threshold, iou_threshold=0.4):
  """The paper's equations, word by word, with sets."""
  scores, dropped, total = [], 0, 0
  for one, weights, boxes in examples:
    for phrase in one.phrases:
      if len(phrase.boxes_px) == 0:
        continue
      total += 1
      relevant = {
        r
        for r in range(len(boxes))
        if max(iou(boxes[r], g) for g in phrase.boxes_px) > iou_threshold
      }
      if not relevant:
        dropped += 1
        continue
      best = [0.0, 0.0, 0.0]
      for t in range(phrase.start, phrase.end):
        attended = {r for r in range(len(boxes)) if weights[t][r] > threshold}
        common = len(attended & relevant)
        ap = common / len(attended) if attended else 0.0
        ar = common / len(relevant)
        af = 2 * ap * ar / (ap + ar) if ap + ar else 0.0
        best = [max(x, y) for x, y in zip(best, (ap, ar, af), strict=True)]
      scores.append(best)
  return np.mean(scores, axis=0), dropped / total


def random_examples(seed, count=12, regions=6):
  rng = np.random.default_rng(seed)

  def boxes(n):
    corner = rng.uniform(0, 50, (n, 2))
    return np.concatenate([corner, corner + rng.uniform(10, 60, (n, 2))], 1).astype(np.float32)

  examples = []
  for _ in range(count):
    found = boxes(regions)
    phrases = (
      records.Phrase(0, 2, "1", (), found[:1] + 3),
      records.Phrase(2, 5, "2", (), np.concatenate([boxes(1), found[2:3]])),
      records.Phrase(5, 6, "3", (), boxes(1) + 500),
      records.Phrase(6, 7, "0"),
    )
    weights = rng.dirichlet(np.full(regions, 0.3), 8)
    examples.append((caption([f"w{i}" for i in range(8)], phrases), weights, found))
  return examples


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_papers_equations_at_every_threshold(seed):
  examples = random_examples(seed)
  scorer = attention.AttentionScorer()
  for example in examples:
    scorer.add(*example)
  result = scorer.result()
  assert result.phrases == 24
  for i, threshold in enumerate(attention.THRESHOLDS):
    expected, dropped = naive(examples, threshold)
    found = (result.precision[i], result.recall[i], result.f1[i])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert result.dropped_share == pytest.approx(dropped)
  assert result.as_json()["attention_f1"] == result.f1.max()


def test_f1_is_the_mean_of_phrases_and_words_take_their_maximum():
  # Phrase 1 attends to its region and another: P 1/2, R 1. Phrase 2: the first word
  # misses, the second hits exactly: 1, 1. Means .75, 1, and F1 (2/3 + 1) / 2.
  boxes = np.stack([box(0, 0, 10, 10), box(20, 20, 30, 30)])
  one = caption(
    ["dog", "red", "ball"],
    [records.Phrase(0, 1, "1", (), boxes[:1]), records.Phrase(1, 3, "2", (), boxes[1:])],
  )
  scorer = attention.AttentionScorer(thresholds=(0.05,))
  scorer.add(one, np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), boxes)
  result = scorer.result()
  assert (result.precision[0], result.recall[0]) == (0.75, 1.0)
  assert result.f1[0] == pytest.approx((2 / 3 + 1) / 2)


def test_uncovered_phrases_are_dropped_or_counted_zero():
  boxes = np.stack([box(0, 0, 10, 10)])
  one = caption(
    ["dog", "ball"],
    [
      records.Phrase(0, 1, "1", (), boxes),
      records.Phrase(1, 2, "2", (), box(90, 90, 99, 99)[None]),
    ],
  )
  for count_uncovered, expected in ((False, 1.0), (True, 0.5)):
    scorer = attention.AttentionScorer(count_uncovered=count_uncovered)
    scorer.add(one, np.ones((2, 1)), boxes)
    result = scorer.result()
    assert result.as_json()["attention_f1"] == expected
    assert result.dropped_share == 0.5


def test_words_without_attention_are_left_out_and_so_are_phrases_of_them():
  boxes = np.stack([box(0, 0, 10, 10), box(50, 50, 60, 60)])
  one = caption(
    ["a", "dog", "red"],
    [records.Phrase(0, 2, "1", (), boxes[:1]), records.Phrase(2, 3, "2", (), boxes[:1])],
  )
  weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
  scorer = attention.AttentionScorer()
  scorer.add(one, weights, boxes, attended_words=np.array([False, True, False]))
  result = scorer.result()
  assert (result.phrases, result.unattended) == (1, 1)
  assert result.as_json()["attention_f1"] == 0


def test_nothing_to_score_is_said_so():
  with pytest.raises(errors.UserError, match="no phrase has a box"):
    attention.AttentionScorer().result()
  with pytest.raises(errors.UserError, match="no caption has annotated"):
    attention.AttentionAccuracy().as_json()


def test_rows_for_start_and_end_are_refused():
  with pytest.raises(errors.UserError, match="3 rows of attention for 1 words"):
    attention.AttentionScorer().add(caption(["dog"]), np.ones((3, 1)), np.ones((1, 4)))
  with pytest.raises(errors.UserError, match="does not fit region boxes"):
    attention.AttentionScorer().add(caption(["dog"]), np.ones((1, 2)), np.ones((1, 4)))


def test_accuracy_is_per_class_first_and_cut_words_count_wrong():
  boxes = np.stack([box(0, 0, 9, 9), box(50, 50, 59, 59)])
  objects = (
    records.ObjectWord(0, "dog", boxes[0]),
    records.ObjectWord(1, "dog", boxes[1]),
    records.ObjectWord(2, "ball", boxes[1]),
    records.ObjectWord(3, "tree", boxes[1]),
  )
  one = caption(["dog", "dog", "ball", "tree"], objects=objects)
  weights = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
  scorer = attention.AttentionAccuracy()
  scorer.add(one, weights, boxes)
  # dog 1 of 2, ball 1 of 1, tree 0 of 1.
  assert scorer.as_json() == pytest.approx(
    {"attention_accuracy": 0.5, "attention_accuracy_micro": 0.5}
  )
  assert next(iter(scorer.per_class().items())) == ("dog", (0.5, 2))
  picky = attention.AttentionAccuracy(known=lambda name: name != "ball")
  picky.add(one, weights, boxes)
  assert picky.as_json()["attention_accuracy"] == pytest.approx(0.5 / 3)


def test_accuracy_threshold_is_strict_and_counts_the_last_pixel():
  # 5 of 10 columns in common: IoU 0.5 exactly.
  one = caption(["dog"], objects=[records.ObjectWord(0, "dog", box(0, 0, 9, 9))])
  scorer = attention.AttentionAccuracy()
  scorer.add(one, np.ones((1, 1)), box(0, 0, 4, 9)[None])
  assert scorer.as_json()["attention_accuracy"] == 0
