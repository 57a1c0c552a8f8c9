import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures
from tests.vision import tiny_photographs

_CLASSES = object_words.ObjectClasses(tiny_photographs.WORDS)


def test_pictures_of_the_split_come_with_their_files_and_scaled_boxes(tmp_path):
  source, pictures = tiny_photographs.make(tmp_path)
  found, paths = annotated_pictures.read(source, pictures, "train", _CLASSES)
  assert [picture.image_id for picture in found] == [str(100 + n) for n in range(6)]
  assert [path.stem for path in paths] == [picture.image_id for picture in found]
  np.testing.assert_array_equal(found[0].words, np.eye(2))
  assert found[0].colours.sum() == 2 and found[0].boxes.max() <= 1


def test_pictures_without_a_photograph_and_unwanted_ones_are_left_out(tmp_path):
  source, pictures = tiny_photographs.make(tmp_path)
  (pictures / "101.jpg").unlink()
  found, _ = annotated_pictures.read(source, pictures, "train", _CLASSES, lambda name: name < "104")
  assert [picture.image_id for picture in found] == ["100", "102", "103"]
  found, _ = annotated_pictures.read(source, pictures, "train", _CLASSES, max_pictures=2)
  assert len(found) == 2


def test_a_split_that_is_missing_or_has_no_photograph_is_one_line(tmp_path):
  source, pictures = tiny_photographs.make(tmp_path)
  with pytest.raises(errors.UserError, match="no split 'test'"):
    annotated_pictures.read(source, pictures, "test", _CLASSES)
  for path in pictures.glob("10[67].jpg"):
    path.unlink()
  with pytest.raises(errors.UserError, match="no photograph of the split 'val'"):
    annotated_pictures.read(source, pictures, "val", _CLASSES)
