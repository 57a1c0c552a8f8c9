import pytest

from gcap_tf.data.scenes import scene_pen, scene_toys

RED, BLUE = scene_pen.COLORS["red"], scene_pen.COLORS["blue"]


@pytest.mark.parametrize(
  "name, anchor", [("kite", "string"), ("balloon", "string"), ("umbrella", "handle")]
)
def test_what_people_hold_has_a_point_to_hold_it_by(name, anchor):
  paint = getattr(scene_toys, f"paint_{name}")
  plain, mirrored = (paint(RED, BLUE, 1.0, flag).anchors[anchor] for flag in (False, True))
  width = paint(RED, BLUE, 1.0, False).width
  assert mirrored == (width - plain[0], plain[1])


def test_a_white_ball_has_a_band_that_can_be_seen():
  white, black = scene_pen.COLORS["white"], scene_pen.COLORS["black"]
  image, _ = scene_toys.paint_ball(white, BLUE, 4.0, False).finish()
  assert black in {color[:3] for _, color in image.getcolors(10000)}
