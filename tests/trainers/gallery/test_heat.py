import numpy as np

from trainers.gallery import heat

BOXES = np.array([[0, 0, 0.4, 1], [0.6, 0, 1, 1]], np.float32)


def test_picture_is_clear_where_the_word_looked_and_dark_elsewhere():
  drawn = np.asarray(heat.layer(np.array([0.9, 0.1]), BOXES, 2.0))
  assert drawn.shape == (48, 96, 4)
  looked, other, nothing = drawn[24, 15], drawn[24, 80], drawn[24, 48]
  assert looked[0] > 200 and looked[3] < 70, "a warm light"
  assert other[0] < 20 and 100 < other[3] < nothing[3]


def test_tall_picture_and_no_attention_are_drawn():
  drawn = heat.layer(np.zeros(2), BOXES, 0.5)
  assert drawn.size == (48, 96)
  assert heat.data_uri(drawn).startswith("data:image/png;base64,")
