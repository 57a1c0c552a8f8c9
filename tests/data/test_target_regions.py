import numpy as np

from gcap_tf.data import records, target_regions

BOXES = np.array([[0, 0, 10, 10], [0, 0, 10, 5], [0, 0, 10, 10], [20, 20, 30, 30]], np.float32)


def word(*boxes):
  placed = tuple(records.FrameBox(frame, np.array(box, np.float32)) for frame, box in boxes)
  return records.ObjectWord(0, "man", placed[0].box_px, placed)


def test_a_picture_is_one_frame():
  thing = records.ObjectWord(0, "man", BOXES[0])
  found = target_regions.overlaps(thing, records.Regions(boxes_px=BOXES))
  np.testing.assert_allclose(found, [1, 0.5, 1, 0])


def test_only_regions_of_the_frame_of_a_box_meet_it():
  regions = records.Regions(boxes_px=BOXES, frame=np.array([0, 1, 1, 2], np.int32))
  np.testing.assert_allclose(
    target_regions.overlaps(word((1, [0, 0, 10, 10])), regions), [-1, 0.5, 1, -1]
  )


def test_the_best_of_several_boxes_counts():
  regions = records.Regions(boxes_px=BOXES, frame=np.array([0, 1, 1, 2], np.int32))
  both = word((0, [0, 0, 10, 5]), (2, [20, 20, 30, 30]))
  found = target_regions.all_overlaps([both, word((0, [0, 0, 10, 10]))], regions, 4)
  np.testing.assert_allclose(found, [[0.5, -1, -1, 1], [1, -1, -1, -1]])


def test_further_regions_are_left_out_and_no_word_has_no_row():
  regions = records.Regions(boxes_px=BOXES)
  assert target_regions.overlaps(word((0, [0, 0, 1, 1])), regions, 2).shape == (2,)
  assert target_regions.all_overlaps([], regions, 3).shape == (0, 3)
