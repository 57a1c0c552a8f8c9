import numpy as np
import tensorflow as tf

from gcap_tf import box_geometry
from gcap_tf.vision import suppression


def _oracle(boxes, scores, regions, threshold, sigma):
  if not sigma:
    return _loop(boxes, scores, regions, threshold, 0)
  left = np.array(_loop(boxes, scores, 3 * regions, threshold, 0))
  return left[_loop(boxes[left], scores[left], regions, 1.0, sigma)]


def _loop(boxes, scores, regions, threshold, sigma):
  scores, rows = scores.copy(), []
  overlap = box_geometry.iou(boxes, boxes)
  while len(rows) < regions and scores.max() > 0:
    best = int(np.argmax(scores))
    rows.append(best)
    decay = np.exp(-(overlap[best] ** 2) / sigma) if sigma else np.ones_like(scores)
    scores *= np.where(overlap[best] > threshold, 0, decay)
    scores[best] = 0
  return rows


def _random(seed, count=60):
  rng = np.random.default_rng(seed)
  low, side = rng.uniform(0, 0.7, (2, count, 2)), rng.uniform(0.1, 0.3, (2, count, 2))
  boxes = np.concatenate([low, low + side], -1).astype(np.float32)
  return boxes, rng.uniform(0.01, 1, (2, count)).astype(np.float32)


def test_choices_are_those_of_a_plain_loop():
  boxes, scores = _random(0)
  for threshold, sigma in ((0.5, 0.0), (0.3, 0.0), (1.0, 0.5), (0.7, 0.4)):
    rows, mask = suppression.suppress(boxes, scores, 20, threshold, sigma)
    for picture in range(2):
      expected = _oracle(boxes[picture], scores[picture], 20, threshold, sigma)
      np.testing.assert_array_equal(rows[picture][mask[picture]], expected)


def test_with_a_sigma_too_no_two_chosen_boxes_overlap_beyond_the_threshold():
  boxes, scores = _random(3, 200)
  rows, mask = suppression.suppress(boxes, scores, 30, 0.4, 2.0)
  chosen = boxes[0][rows[0].numpy()[mask[0].numpy()]]
  overlap = box_geometry.iou(chosen, chosen)
  assert overlap[~np.eye(len(chosen), dtype=bool)].max() <= 0.4


def test_missing_regions_are_masked():
  boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 0, 0.1, 0.1]]], np.float32)
  scores = np.array([[0.5, 0.9, 0.0]], np.float32)
  rows, mask = suppression.suppress(boxes, scores, 4)
  np.testing.assert_array_equal(rows, [[1, 0, 0, 0]])
  np.testing.assert_array_equal(mask, [[True, False, False, False]])
  _, mask = suppression.suppress(boxes, scores, 4, sigma=2.0)
  np.testing.assert_array_equal(mask, [[True, False, False, False]])


def test_the_answer_of_a_picture_does_not_depend_on_its_batch():
  boxes, scores = _random(1)
  together, _ = suppression.suppress(boxes, scores, 10)
  alone, _ = suppression.suppress(boxes[1:], scores[1:], 10)
  np.testing.assert_array_equal(together[1:], alone)


def test_shapes_are_static_in_a_graph():
  @tf.function(input_signature=[tf.TensorSpec([None, 50, 4]), tf.TensorSpec([None, 50])])
  def graph(boxes, scores):
    rows, mask = suppression.suppress(boxes, scores, 36)
    assert rows.shape[1:] == mask.shape[1:] == [36]
    return rows

  assert graph(*(part[:, :50] for part in _random(2))).shape == (2, 36)
