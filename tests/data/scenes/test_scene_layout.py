import numpy as np
import pytest

from gcap_tf.data.scenes import scene_backgrounds, scene_layout


@pytest.fixture
def stage():
  place = scene_backgrounds.PLACES["meadow"]
  return scene_layout.Stage(place, np.random.Generator(np.random.PCG64(3)))


def test_boxes_are_the_extent_of_the_painted_pixels(stage):
  index = stage.thing("ball", 100, 200, 1.0, depth=200)
  scene = stage.finish(0)
  empty, _ = scene_backgrounds.tile("meadow", 0)
  changed = (np.asarray(scene.picture, int) != np.asarray(empty, int)).any(-1)
  x1, y1, x2, _ = scene.entities[index].box_px
  # Left, right and upper edge; below lies the shadow, which is no part of the ball.
  above = changed[: int((y1 + 200) / 2)]
  columns, rows = np.flatnonzero(above.any(0)), np.flatnonzero(above.any(1))
  assert abs(columns[0] - x1) <= 1 and abs(columns[-1] + 1 - x2) <= 1 and abs(rows[0] - y1) <= 1


def test_near_things_hide_far_ones_and_shrink_their_boxes(stage):
  far = stage.thing("house", 120, 200, 0.6, depth=150)
  alone = scene_layout.Stage(stage.place, np.random.Generator(np.random.PCG64(3)))
  alone.thing("house", 120, 200, 0.6, depth=150)
  whole = alone.finish(0).entities[0].box_px
  stage.thing("tree", 90, 210, 0.9, depth=210)
  visible = stage.finish(0).entities[far].box_px
  assert visible[0] > whole[0]
  assert visible[2] == whole[2]


def test_what_is_hidden_too_much_is_not_seen(stage):
  hidden = stage.thing("ball", 120, 200, 0.8, depth=150)
  stage.thing("house", 120, 230, 1.2, depth=230)
  assert stage.finish(0).entities[hidden].box_px is None


def test_what_lies_outside_is_not_seen(stage):
  index = stage.thing("kite", -80, 60, 1.0, anchor="string", depth=1)
  entity = stage.finish(0).entities[index]
  assert entity.box_px is None and entity.part_boxes == []


def test_parts_lie_inside_their_object(stage):
  index = stage.person("woman", "walk", 150, 220, 1.0, False)
  entity = stage.finish(0).entities[index]
  assert {"head", "pants"} & {name for name, _ in entity.part_boxes}
  for _, box in entity.part_boxes:
    assert (box[:2] >= entity.box_px[:2]).all() and (box[2:] <= entity.box_px[2:]).all()


def test_the_places_parts_give_way_to_what_stands_before_them(stage):
  before = scene_layout.Stage(stage.place, stage.rng).finish(0).place_boxes
  assert {"sky", "field"} <= set(before)
  assert before["field"][3] == 240


def test_a_size_word_matches_the_scale():
  sizes = {}
  for seed in range(60):
    stage = scene_layout.Stage(
      scene_backgrounds.PLACES["meadow"], np.random.Generator(np.random.PCG64(seed))
    )
    entity = stage.entities[stage.thing("car", 160, 220, 1.0)]
    sizes.setdefault(entity.size, set()).add(entity.pen.columns)
  assert max(sizes["small"]) < min(sizes[""]) <= max(sizes[""]) < min(sizes["large"])
