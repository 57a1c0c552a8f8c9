import numpy as np
import pytest

from gcap_tf.data.scenes import scene_backgrounds, scene_layout, video_events

CAST = video_events.Cast(
  scene_backgrounds.PLACES["meadow"], "man", "dog", True, 100.0, 220.0, 200.0, True
)
TIMES = np.linspace(0, 1, 10)


def positions(motion, actor):
  return [motion(CAST, time)[actor].x for time in TIMES]


def test_who_enters_comes_from_outside_and_stops():
  xs = positions(video_events.enter, video_events.PERSON)
  assert xs[0] < 0 and xs[-1] == xs[-2] == CAST.home
  assert video_events.enter(CAST, 1.0)[video_events.PERSON].pose == "stand"


def test_who_leaves_ends_outside():
  xs = positions(video_events.leave, video_events.PERSON)
  assert xs[0] == CAST.home and xs[-1] < 0


def test_a_ball_is_lifted_when_the_person_is_there():
  held = [video_events.pick_up(CAST, time)[video_events.BALL].held for time in TIMES]
  assert held == sorted(held) and not held[0] and held[-1]


def test_a_thrown_ball_flies_in_a_bow_to_the_other():
  balls = [video_events.throw(CAST, time)[video_events.BALL] for time in TIMES]
  assert balls[0].held and balls[-1].x == CAST.spot
  assert max(ball.lift for ball in balls) > 40 and balls[-1].lift == 0


def test_who_walks_behind_is_farther_away_than_what_hides_it():
  seen = video_events.behind(CAST, 0.5)
  assert seen[video_events.PERSON].base < seen[video_events.OTHER].base


def test_nobody_runs_after_a_tree():
  motions = [motion for motion, _ in video_events.events(1, is_animal=False)]
  assert video_events.follow not in motions
  assert video_events.follow in [motion for motion, _ in video_events.events(1, is_animal=True)]


@pytest.mark.parametrize("segment", [0, 1])
def test_every_word_has_a_tag_and_every_actor_of_a_sentence_is_there(segment):
  for motion, sentences in video_events.events(segment, is_animal=True):
    placed = {actor for time in TIMES for actor in motion(CAST, time)}
    for sentence in sentences:
      for word in sentence:
        assert word in (placed if isinstance(word, int) else video_events.TAGS)


def test_pronouns_are_those_of_the_people():
  assert {video_events.pronoun(name) for name in scene_layout.PEOPLE} == set(
    video_events.PRONOUN_CLASSES
  )
