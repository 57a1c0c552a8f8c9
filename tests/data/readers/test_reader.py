import functools
import pickle

import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.readers import reader


class Letters(reader.Reader):
  """A dataset of letters, for the test."""

  splits = ("train", "val")

  def image_ids(self, split):
    return list("abc" if split == "train" else self.source)

  def record(self, image_id, split):
    return records.Record(image_id, split, 1, 1, (records.Caption(image_id, "x", ("x",)),))

  @functools.cached_property
  def _heavy(self):
    return [0] * 1000


def ids(source, **options):
  return [record.image_id for record in Letters(source).read(progress=False, **options)]


def test_records_come_split_by_split_in_order():
  assert ids("de") == ["a", "b", "c", "d", "e"]


def test_max_images_limits_each_split():
  assert ids("de", max_images=1) == ["a", "d"]


def test_splits_can_be_chosen():
  assert ids("de", splits=["val"]) == ["d", "e"]


def test_an_unknown_split_lists_the_known_ones():
  with pytest.raises(errors.UserError, match='no split "dev"; it has train, val'):
    ids("de", splits=["dev"])


def test_a_picture_in_two_splits_is_refused():
  with pytest.raises(errors.UserError, match="picture b is listed in train and again in val"):
    ids("db")


def test_what_was_read_from_disk_is_not_pickled():
  letters = Letters("de")
  assert len(letters._heavy) == 1000
  copy = pickle.loads(pickle.dumps(letters))
  assert "_heavy" not in copy.__dict__ and copy.source == "de"


def test_the_bar_is_drawn_on_standard_error(capsys):
  list(Letters("de").read())
  shown = capsys.readouterr()
  assert "Reading train" in shown.err and shown.out == ""
