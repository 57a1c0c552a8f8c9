import numpy as np
import pytest

from gcap_tf.data.scenes import scene_backgrounds, scene_groups, scene_layout

EVERY = [(p, group) for p, groups in scene_groups.GROUPS.items() for group in dict.fromkeys(groups)]


@pytest.mark.parametrize(
  ("place", "group"), EVERY, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_group_is_visible_and_states_facts(place, group):
  rng = np.random.Generator(np.random.PCG64(4))
  stage = scene_layout.Stage(scene_backgrounds.PLACES[place], rng)
  group(stage, 160, 225)
  scene = stage.finish(0)
  assert scene.facts
  for fact in scene.facts:
    assert scene.entities[fact.subject].box_px is not None
    if fact.object is not None:
      assert scene.entities[fact.object].box_px is not None


def boxes_of(group, place="meadow"):
  """Boxes of subject and object of the group's first fact, over several seeds."""
  for seed in range(12):
    stage = scene_layout.Stage(
      scene_backgrounds.PLACES[place], np.random.Generator(np.random.PCG64(seed))
    )
    group(stage, 160, 225)
    scene = stage.finish(0)
    fact = scene.facts[0]
    yield scene.entities[fact.subject].box_px, scene.entities[fact.object].box_px


def test_who_holds_a_thing_touches_it():
  for person, thing in boxes_of(scene_groups.person_with_thing):
    assert person[0] <= thing[2] + 12 and thing[0] <= person[2] + 12
    assert person[1] <= thing[3] + 60


def test_who_sits_or_rides_is_above_what_carries_them():
  for group in (scene_groups.person_on_seat, scene_groups.person_on_horse):
    for person, seat in boxes_of(group):
      assert person[1] < (seat[1] + seat[3]) / 2 and person[3] <= seat[3] + 8
      assert min(person[2], seat[2]) > max(person[0], seat[0])


def test_the_cat_under_the_table_is_under_it():
  for cat, table in boxes_of(scene_groups.cat_under_table, "room"):
    assert table[0] < cat[0] and cat[2] < table[2]
    assert cat[1] > table[1]


def test_kites_fly_above_who_flies_them():
  for person, kite in boxes_of(scene_groups.person_with_kite):
    assert kite[1] < person[1]


def test_scenes_differ_in_place_and_number():
  scenes = [scene_groups.compose(np.random.Generator(np.random.PCG64(i))) for i in range(40)]
  assert {s.place.name for s in scenes} == set(scene_backgrounds.PLACES)
  counts = [sum(e.box_px is not None for e in s.entities) for s in scenes]
  assert min(counts) >= 1 and max(counts) >= 6
