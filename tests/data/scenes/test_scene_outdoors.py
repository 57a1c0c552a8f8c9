import numpy as np

from gcap_tf.data.scenes import scene_outdoors, scene_pen

RED, BLUE = scene_pen.COLORS["red"], scene_pen.COLORS["blue"]


def test_a_house_has_its_roof_above_its_door_and_two_windows():
  pen = scene_outdoors.paint_house(RED, BLUE, 1.0, False)
  _, numbers = pen.finish()
  rows = {part: np.flatnonzero((numbers == i).any(1)) for i, part in enumerate(pen.parts, 2)}
  assert rows["roof"].max() < rows["door"].min()
  assert pen.parts.count("window") == 2


def test_the_scarf_of_a_snowman_has_the_given_colour():
  pen = scene_outdoors.paint_snowman(RED, BLUE, 2.0, False)
  image, numbers = pen.finish()
  scarf = np.asarray(image)[numbers == 2 + pen.parts.index("scarf")]
  assert (scarf[:, :3] == RED).all(axis=1).any()
