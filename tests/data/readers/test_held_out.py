"""Tests of gcap_tf/data/readers/held_out.py."""

import pickle

import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.readers import held_out, reader


class Toy(reader.Reader):
  """Eight train, two val and one test picture."""

  @property
  def splits(self):
    return ("train", "val", "test")

  def image_ids(self, split):
    return {
      "train": [f"t{n}" for n in range(8)],
      "val": ["v0", "v1"],
      "test": ["x"],
    }[split]

  def record(self, image_id, split):
    assert image_id in self.image_ids(split)
    return records.Record(image_id=image_id, split=split, width=1, height=1, captions=())


def test_pictures_of_train_and_val_are_shared_out_again():
  found = held_out.HeldOut(Toy("toy"), 3)
  train, val = found.image_ids("train"), found.image_ids("val")
  assert (len(train), len(val), found.image_ids("test")) == (7, 3, ["x"])
  assert set(train) | set(val) == {*Toy("toy").image_ids("train"), "v0", "v1"}
  assert found.splits == ("train", "val", "test")
  read = [record.split for record in found.read(progress=False)]
  assert read == ["train"] * 7 + ["val"] * 3 + ["test"]


def test_the_same_pictures_are_held_out_in_another_process():
  first = held_out.HeldOut(Toy("toy"), 3)
  assert pickle.loads(pickle.dumps(first)).image_ids("val") == first.image_ids("val")


def test_more_than_there_is_cannot_be_held_out():
  with pytest.raises(errors.UserError, match="has 10 pictures of train and val; hold out fewer"):
    held_out.HeldOut(Toy("toy"), 10)
