import numpy as np

from gcap_tf.data.scenes import scene_pen, scene_vehicles

RED, BLUE = scene_pen.COLORS["red"], scene_pen.COLORS["blue"]


def test_cars_and_bicycles_have_two_wheels_apart():
  for paint in (scene_vehicles.paint_car, scene_vehicles.paint_bicycle):
    pen = paint(RED, BLUE, 1.0, False)
    _, numbers = pen.finish()
    first, second = (
      np.flatnonzero((numbers == i).any(0)) for i, p in enumerate(pen.parts, 2) if p == "wheel"
    )
    assert first[-1] < second[0]
