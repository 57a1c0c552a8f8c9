"""Tests of gcap_tf/data/records.py."""

import dataclasses

import numpy as np

from gcap_tf.data import records


def test_regions_are_counted_by_what_they_carry():
  boxes, features = np.zeros((3, 4), np.float32), np.zeros((2, 5), np.float32)
  assert records.Regions(boxes_px=boxes).count == 3
  assert records.Regions(features=features).count == 2
  assert records.Regions(labels=("dog",)).count == 1
  assert records.Regions().count == 0


def test_a_word_of_a_picture_is_placed_in_frame_0():
  word = records.ObjectWord(3, "cat", np.ones(4, np.float32))
  (placed,) = word.placed
  assert placed.frame == 0 and placed.box_px is word.box_px


def test_a_picture_is_one_frame_and_a_segment_has_its_own():
  picture = records.Record("a", "train", 10, 10, ())
  assert picture.frames == 1
  assert dataclasses.replace(picture, segment=records.Segment("v", "0", frames=7)).frames == 7
