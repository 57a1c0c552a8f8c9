import dataclasses

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors
from serving.wire import answer_pictures, answers

ANSWER = answers.GroundedCaption(
  caption="a dog",
  words=("a", "dog"),
  box_index=np.array([0, 0]),
  grounded=np.array([False, True]),
  boxes=np.array([[0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]], np.float32),
  attention=np.ones((2, 1), np.float32),
  log_prob=-1.0,
  word_scores=np.array([0.0, 0.8], np.float32),
)


def colours(image):
  return {colour for _, colour in image.getcolors(1 << 24)}


def test_sure_word_has_a_box_and_unsure_word_has_none():
  picture = Image.new("RGB", (500, 400), (200, 200, 200))
  with_box = answer_pictures.drawing(ANSWER, picture)
  without = answer_pictures.drawing(ANSWER, picture, threshold=0.9)
  plain = dataclasses.replace(ANSWER, grounded=np.array([False, False]))
  assert with_box.tobytes() != without.tobytes()
  assert without.tobytes() == answer_pictures.drawing(plain, picture).tobytes()
  assert len(colours(with_box)) > len(colours(without))


def test_drawing_is_written_as_its_ending_says(tmp_path):
  image = Image.new("RGB", (4, 4))
  answer_pictures.write(image, tmp_path / "a.jpg")
  assert Image.open(tmp_path / "a.jpg").format == "JPEG"
  with pytest.raises(errors.UserError, match=r"a.txt: pictures are written as .png or .jpg"):
    answer_pictures.write(image, tmp_path / "a.txt")
