import numpy as np
import pytest

from gcap_tf.data.scenes import scene_backgrounds

PLACES = list(scene_backgrounds.PLACES)


@pytest.mark.parametrize("name", PLACES)
def test_every_pixel_of_a_place_is_painted(name):
  for variant in range(scene_backgrounds.VARIANTS):
    image, numbers = scene_backgrounds.tile(name, variant)
    assert image.mode == "RGB" and image.size == (320, 240)
    assert (numbers > 0).all()


@pytest.mark.parametrize("name", PLACES)
def test_the_ground_is_a_part_and_lies_below(name):
  pen = scene_backgrounds.paint(name, 0)
  place = scene_backgrounds.PLACES[name]
  _, numbers = scene_backgrounds.tile(name, 0)
  rows = np.flatnonzero((numbers == pen.parts.index(place.ground) + 2).any(1))
  assert rows[-1] == 239
  assert rows[0] < place.near
  assert ("sky" in pen.parts) == place.outdoors


@pytest.mark.parametrize("name", PLACES)
def test_variants_differ(name):
  pictures = {scene_backgrounds.tile(name, v)[0].tobytes() for v in range(6)}
  assert len(pictures) == 6


def test_things_look_larger_when_they_are_nearer():
  place = scene_backgrounds.PLACES["meadow"]
  assert place.scale_at(place.near) == pytest.approx(place.near_scale)
  assert place.scale_at(place.far) == pytest.approx(place.far_scale)
  assert place.far_scale < place.scale_at((place.near + place.far) / 2) < place.near_scale
