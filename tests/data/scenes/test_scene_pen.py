import numpy as np
import pytest

from gcap_tf.data.scenes import scene_pen

RED = scene_pen.COLORS["red"]


def extent(mask):
  rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
  return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def test_a_rectangle_paints_the_pixels_it_covers():
  pen = scene_pen.Pen(20, 10)
  pen.slab(4, 2, 10, 8, RED)
  image, numbers = pen.finish()
  assert image.size == (20, 10) and numbers.shape == (10, 20)
  assert extent(numbers == scene_pen.BODY) == (4, 2, 10, 8)
  assert image.getpixel((6, 5)) == (*RED, 255)
  assert image.getpixel((1, 1))[3] == 0


def test_scale_and_mirror_apply_to_shapes_and_anchors():
  pen = scene_pen.Pen(20, 10, scale=2.0, mirrored=True)
  pen.slab(0, 0, 5, 5, RED)
  pen.anchor("hand", 4, 3)
  _, numbers = pen.finish()
  assert extent(numbers > 0) == (30, 0, 40, 10)
  assert pen.anchors["hand"] == (16, 3)


def test_a_margin_is_room_above():
  pen = scene_pen.Pen(10, 10, margin=6)
  pen.slab(0, -5, 10, 0, RED)
  _, numbers = pen.finish()
  assert numbers.shape == (16, 10)
  assert extent(numbers > 0) == (0, 1, 10, 6)


def test_parts_are_numbered_and_later_paint_covers():
  pen = scene_pen.Pen(12, 12)
  pen.slab(0, 0, 12, 12, RED)
  with pen.part("wheel"):
    pen.slab(0, 8, 4, 12, RED)
  with pen.part("wheel", another=True):
    pen.slab(8, 8, 12, 12, RED)
  with pen.part("door"):
    pen.slab(10, 8, 12, 12, RED)
  _, numbers = pen.finish()
  assert pen.parts == ["wheel", "wheel", "door"]
  assert extent(numbers == 2) == (0, 8, 4, 12)
  assert extent(numbers == 3) == (8, 8, 10, 12)
  assert extent(numbers == 4) == (10, 8, 12, 12)


def test_a_part_can_be_taken_up_again():
  pen = scene_pen.Pen(12, 12)
  for x in (0, 8):
    with pen.part("sleeve"):
      pen.slab(x, 0, x + 4, 4, RED)
  assert pen.parts == ["sleeve"]
  assert extent(pen.finish()[1] == 2) == (0, 0, 12, 4)


@pytest.mark.parametrize(
  "paint",
  [
    lambda pen: pen.ellipse(10, 10, 6, 6, RED),
    lambda pen: pen.blob(((4, 10), (10, 4), (16, 10), (10, 16)), RED),
    lambda pen: pen.ring(10, 10, 6, 2, RED),
    lambda pen: pen.pie(10, 10, 6, 6, 0, 360, RED),
    lambda pen: pen.stroke(((6, 10), (14, 10)), 4, RED),
    lambda pen: pen.slab(4, 4, 16, 16, RED, radius=4),
  ],
)
def test_shapes_have_soft_edges_and_hard_numbers(paint):
  pen = scene_pen.Pen(20, 20)
  paint(pen)
  image, numbers = pen.finish()
  alpha = np.asarray(image)[..., 3]
  assert ((alpha > 0) & (alpha < 255)).any()
  x1, y1, x2, y2 = extent(numbers > 0)
  assert (x1, x2) == pytest.approx((4, 16), abs=1)
  assert (y2 - y1) in (4, 5, 6, 11, 12, 13)
  assert (alpha[numbers > 0] > 60).all()


def test_shades_darken_and_lighten():
  assert scene_pen.shade((100, 200, 50), 0.5) == (50, 100, 25)
  assert scene_pen.shade((105, 205, 55), 1.5) == (180, 230, 155)


def test_a_curve_runs_through_its_points():
  points = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0))
  assert set(points) <= set(scene_pen.curve(points, closed=False))
  assert len(scene_pen.curve(points)) == 18
