import numpy as np
import pytest

from gcap_tf.data.scenes import scene_layout, scene_pen, scene_things

RED, BLUE = scene_pen.COLORS["red"], scene_pen.COLORS["blue"]


@pytest.mark.parametrize("name", scene_things.PAINTERS)
def test_every_thing_fills_its_tile(name):
  pen = scene_things.PAINTERS[name](RED, BLUE, 1.0, False)
  image, numbers = pen.finish()
  painted = numbers > 0
  assert image.size == (pen.columns, pen.rows)
  assert painted.sum() > 100
  # Tiles are cut to their thing: shadows and depth rely on the lower edge.
  assert np.flatnonzero(painted.any(1))[-1] >= pen.rows - 5
  assert painted.any(0).mean() > 0.7


@pytest.mark.parametrize("name", scene_things.PAINTERS)
def test_mirrored_things_are_mirrored(name):
  _, plain = scene_things.PAINTERS[name](RED, BLUE, 1.0, False).finish()
  _, mirrored = scene_things.PAINTERS[name](RED, BLUE, 1.0, True).finish()
  assert ((plain > 0) == (mirrored[:, ::-1] > 0)).mean() > 0.95


@pytest.mark.parametrize("name", scene_layout.ACCENTED)
def test_parts_with_a_colour_of_their_own_are_parts(name):
  pen = scene_things.PAINTERS[name](RED, BLUE, 1.0, False)
  assert scene_layout.ACCENTED[name] in pen.parts


def test_every_thing_that_scenes_colour_can_be_painted():
  assert set(scene_layout.THING_COLORS) == set(scene_things.PAINTERS)
