import types

import numpy as np
from PIL import Image

from gcap_tf.visuals import region_pictures


def test_boxes_are_drawn_where_they_are():
  picture = np.full((60, 480, 3), 128, np.uint8)
  drawn = np.asarray(region_pictures.regions(picture, np.array([[0.5, 0.2, 0.9, 0.9]]), ["cat 90"]))
  assert drawn.shape == picture.shape
  assert (drawn[:, :200] == 128).all() and (drawn[:, 230:] != 128).any()


def test_annotated_boxes_and_the_title_are_drawn():
  picture = np.full((60, 480, 3), 128, np.uint8)
  image = region_pictures.regions(picture, np.zeros((0, 4)), [], np.array([[0, 0, 1, 1]]), "one")
  assert image.size == (480, 84)


def test_small_pictures_are_enlarged_and_degenerate_boxes_do_no_harm():
  picture = np.zeros((10, 20, 3), np.uint8)
  image = region_pictures.regions(picture, np.array([[1.0, 1.0, 1.0, 1.0]]), [""])
  assert image.size == (480, 240)


def test_an_answer_is_tagged_with_word_colour_and_score(tmp_path):
  assert region_pictures.tag("shirt", "red", 0.834) == "red shirt 83"
  assert region_pictures.tag("shirt", "", 0.5) == "shirt 50"
  Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
  answer = types.SimpleNamespace(
    boxes=np.tile([[0, 0, 0.5, 0.5]], (20, 1)),
    scores=np.ones(20),
    label_probs=np.tile([[0.1, 0.9]], (20, 1)),
    colour_probs=np.eye(11)[[2] * 20],
  )
  image = region_pictures.of_answer(tmp_path / "a.png", answer, ["cat", "dog"])
  assert np.asarray(image).any()
