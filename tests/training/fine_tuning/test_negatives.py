"""Tests of gcap_tf/training/negatives.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.training.fine_tuning import caption_table, negatives

PICTURES, CAPTIONS = 7, 3


def make_table(pictures, captions=CAPTIONS):
  """Caption c of picture p is two words: p + 1, then 20 + c."""
  ids = [word for p in range(pictures) for c in range(captions) for word in (p + 1, 20 + c)]
  return caption_table.CaptionTable(
    np.array([f"p{n}" for n in range(pictures)]),
    np.full(pictures, captions),
    np.array(ids, np.int32),
    np.full(pictures * captions, 2),
    np.zeros(len(ids), np.str_),
  )


def make(captions=2, streams=5, seed=0, pictures=PICTURES):
  return negatives.Negatives(make_table(pictures), 4, 3, captions, streams, seed)


def names(*numbers):
  return np.array([f"p{n}".encode() for n in numbers], object)


def test_captions_are_those_of_one_other_picture_per_stream_and_consecutive():
  found = make()
  for step in range(10):
    own = [step % 7, (step + 2) % 7, (step + 4) % 7]
    rows = found.at(step, names(*own))
    assert rows.shape == (3, 10, 4) and (rows[:, :, 2:] == 0).all()
    lenders = rows[:, :, 0].reshape(3, 5, 2) - 1
    assert (lenders[..., 0] == lenders[..., 1]).all()
    assert (lenders[..., 0] != np.array(own)[:, None]).all()
    numbers = rows[:, :, 1].reshape(3, 5, 2)
    assert (numbers[..., 1] - numbers[..., 0] == 1).all()


def test_a_pass_lends_every_picture_once():
  # 7 steps of 3 pictures are three passes over 7 pictures; nobody asks for itself here, as
  # the batch holds a picture that no caption names.
  found = negatives.Negatives(make_table(8), 4, 3, 1, 1, 0)
  lenders = [found.at(step, names(7, 7, 7))[:, 0, 0] - 1 for step in range(8)]
  counts = np.bincount(np.concatenate(lenders), minlength=8)
  assert counts[:7].min() >= 3 and counts[7] == 0


def test_streams_differ_and_a_step_is_drawn_alike_whenever_it_is_asked_for():
  first, second = make(), make()
  early = [first.at(step, names(0, 1, 2)) for step in range(6)]
  np.testing.assert_array_equal(second.at(5, names(0, 1, 2)), early[5])
  streams = np.stack(early)[:, :, ::2, 0]  # [6, 3, 5]
  assert (streams[..., 0] != streams[..., 1]).any()
  assert (make(seed=1).at(0, names(0, 1, 2)) != early[0]).any()


def test_a_picture_with_too_few_captions_repeats_them():
  found = make(captions=5).at(0, names(0, 1, 2))[:, :5, 1] - 20
  assert found.shape == (3, 5) and set(found.ravel()) == {0, 1, 2}


def test_one_picture_cannot_be_contrasted():
  with pytest.raises(errors.UserError, match="two pictures or more"):
    make(pictures=1)


def test_a_worker_draws_its_part_of_the_batch():
  found = make()
  whole = found.at(3, names(4, 5, 6))
  np.testing.assert_array_equal(found.at(3, names(5, 6), first=1), whole[1:])
