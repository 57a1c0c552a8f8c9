import numpy as np
from PIL import Image

from gcap_tf.visuals import ink, strips


def colours(image):
  return {tuple(pixel) for pixel in np.asarray(image).reshape(-1, 3)}


def test_a_box_is_drawn_in_the_frames_that_have_one():
  frames = [Image.new("RGB", (40, 30), "black") for _ in range(3)]
  boxes = np.zeros((2, 3, 4))
  boxes[1, 2] = [0.2, 0.2, 0.8, 0.8]
  picture = strips.grounded_strip(frames, ["a", "dog"], boxes, [False, True])
  # The frames are 200 pixels wide, after a margin; the sentence is below them.
  shown = [colours(picture.crop((18 + n * 204, 18, 218 + n * 204, 168))) for n in range(3)]
  assert [ink.palette(0) in own for own in shown] == [False, False, True]
  assert ink.palette(0) in colours(picture.crop((0, 170, picture.width, picture.height)))


def test_words_without_a_thing_have_no_box():
  frames = [Image.new("RGB", (40, 30), "black")]
  picture = strips.grounded_strip(frames, ["a"], np.ones((1, 1, 4)), [False])
  assert ink.palette(0) not in colours(picture)


def test_a_strip_is_cut_into_its_frames():
  strip = Image.new("RGB", (30, 4), "red")
  strip.paste("blue", (20, 0, 30, 4))
  frames = strips.cut(strip, 3)
  assert [frame.size for frame in frames] == [(10, 4)] * 3
  assert frames[2].getpixel((0, 0)) == (0, 0, 255)
