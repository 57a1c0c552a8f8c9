import pytest

from gcap_tf.data.scenes import scene_furniture, scene_pen

RED, BLUE = scene_pen.COLORS["red"], scene_pen.COLORS["blue"]


@pytest.mark.parametrize("name", ["bench", "chair", "sofa"])
def test_seats_have_a_place_to_sit_inside_their_tile(name):
  pen = getattr(scene_furniture, f"paint_{name}")(RED, BLUE, 1.0, False)
  x, y = pen.anchors["seat"]
  assert 0 < x < pen.columns and 0 < y < pen.rows


def test_a_lamp_has_a_shade_above_its_foot():
  pen = scene_furniture.paint_lamp(RED, BLUE, 1.0, False)
  _, numbers = pen.finish()
  rows = (numbers == 2 + pen.parts.index("shade")).any(1).nonzero()[0]
  assert rows.max() < pen.rows / 2
