import numpy as np
import pytest

from gcap_tf.metrics import detection


def _judge(annotated, regions, **given):
  n, r = len(annotated), len(regions)
  values = {
    "words": np.eye(3)[[0] * n],
    "colours": np.zeros((n, 2)),
    "scores": np.linspace(0.9, 0.1, r),
    "label_probs": np.tile([0.5, 0.3, 0.2], (r, 1)),
    "colour_probs": np.tile([0.9, 0.1], (n, 1)),
  } | given
  return detection.judge(
    annotated=np.array(annotated, np.float32), regions=np.array(regions, np.float32), **values
  )


_LEFT, _RIGHT, _SMALL = [0, 0, 0.5, 1], [0.5, 0, 1, 1], [0, 0, 0.1, 0.1]


def test_recall_counts_boxes_that_some_region_covers():
  figures = detection.figures([_judge([_LEFT, _RIGHT], [_LEFT])])
  assert figures["recall_36"] == figures["recall_100"] == 50.0
  assert figures["recall_36_large"] == 50.0 and "recall_36_small" not in figures
  assert (figures["boxes"], figures["pictures"]) == (2, 1)


def test_only_the_first_36_regions_count_for_recall_at_36():
  figures = detection.figures([_judge([_SMALL], [_RIGHT] * 36 + [_SMALL])])
  assert figures["recall_36"] == 0.0 and figures["recall_100"] == 100.0
  assert figures["recall_36_small"] == 0.0


def test_an_overlap_of_a_half_is_not_enough():
  assert detection.figures([_judge([[0, 0, 1, 1]], [_LEFT])])["recall_36"] == 0.0


def test_labels_are_judged_at_the_best_region_of_boxes_that_are_found_and_named():
  probs = np.array([[0.1, 0.6, 0.3], [0.9, 0.1, 0.0]])
  words = np.array([[0, 0, 2], [0, 0, 0], [1, 0, 0]])
  boxes = [_LEFT, _LEFT, _RIGHT]
  judged = _judge(boxes, [[0, 0, 0.48, 1], [0, 0, 0.3, 1]], words=words, label_probs=probs)
  np.testing.assert_array_equal(judged.label_ranks, [1, -1, -1])
  figures = detection.figures([judged])
  assert figures["label_top1"] == 0.0 and figures["label_top5"] == 100.0


def test_colours_are_judged_at_annotated_boxes_that_have_one():
  colours = np.array([[0, 2], [1, 1], [0, 0]])
  judged = _judge([_LEFT, _RIGHT, _SMALL], [_LEFT], colours=colours)
  np.testing.assert_array_equal(judged.colour_right, [0, 1, -1])
  assert detection.figures([judged])["colour_top1"] == 50.0


def test_a_box_is_found_once():
  overlap = np.array([[0.9, 0.8, 0.0], [0.0, 0.6, 0.7]])
  np.testing.assert_array_equal(detection.first_hits(overlap), [True, True, False])


def test_average_precision_by_hand():
  # Hits at ranks 1 and 3 of 3 boxes: envelope 1 and 2/3, over 3.
  judged = _judge([_LEFT, _RIGHT, _SMALL], [_LEFT, [0.4, 0.4, 0.6, 0.6], _RIGHT])
  assert detection.average_precision([judged]) == pytest.approx((1 + 2 / 3) / 3)


def test_a_picture_without_regions_has_no_recall():
  empty = _judge([_LEFT], np.zeros((0, 4)), label_probs=np.zeros((0, 3)))
  assert detection.figures([empty])["recall_36"] == 0.0
