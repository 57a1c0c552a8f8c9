"""Tests of gcap_tf/recipes/experiments.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.recipes import experiments, settings


@dataclasses.dataclass(frozen=True)
class Training:
  teacher: str = ""
  start: str = ""
  epochs: int = 3


def make_table(**trainings):
  rows = tuple(
    experiments.Row(name=name, label=name, training=training)
    for name, training in trainings.items()
  )
  return experiments.Table(paper="paper", split="val", columns=(), rows=rows)


def test_a_row_comes_after_the_rows_it_needs():
  table = make_table(
    tuned=Training(teacher="@matcher", start="@student"),
    student=Training(teacher="@matcher"),
    matcher=Training(),
  )
  assert [row.name for row in experiments.in_order(table)] == ["matcher", "student", "tuned"]
  assert [row.name for row in experiments.in_order(table, ["student"])] == ["matcher", "student"]


def test_references_become_folders_and_other_text_stays():
  training = Training(teacher="@matcher", start="runs/old")
  assert experiments.needs(training) == ["matcher"]
  found = experiments.resolved(training, {"matcher": "out/matcher/seed_1"})
  assert found == Training(teacher="out/matcher/seed_1", start="runs/old")


def test_unknown_rows_and_circles_are_named():
  with pytest.raises(errors.UserError, match='no row "c"; rows are a, b'):
    make_table(a=Training(), b=Training()).row("c")
  circle = make_table(a=Training(teacher="@b"), b=Training(teacher="@a"))
  with pytest.raises(errors.UserError, match="a -> b -> a"):
    experiments.in_order(circle)


def test_an_ensemble_comes_after_its_members():
  table = make_table(
    both=experiments.Average(members=("@a", "@b")), a=Training(), b=Training(teacher="@a")
  )
  assert [row.name for row in experiments.in_order(table, ["both"])] == ["a", "b", "both"]
  found = experiments.resolved(table.row("both").training, {"a": "runs/a", "b": "runs/b"})
  assert found.members == ("runs/a", "runs/b")


def test_printed_figures_belong_to_their_data_regions_and_number_of_pictures():
  printed = {settings.F30K_TEST: {"cider": 60.0}, settings.F30K_PERFECT: {"cider": 76.0}}
  row = experiments.Row(name="a", label="a", training=None, printed=printed)
  assert row.printed_for(settings.setting_of("flickr30k_entities", "test", 1000, "store")) == {
    "cider": 60.0
  }
  perfect = settings.setting_of("flickr30k_entities", "test", 1000, "perfect")
  assert row.printed_for(perfect) == {"cider": 76.0}
  # Another split of the same data is shown; the table says so.
  val = settings.setting_of("flickr30k_entities", "val", 1000, "perfect")
  assert row.printed_for(val) == {"cider": 76.0}
  for other in (
    settings.setting_of("flickr30k_entities", "test", 1000, "noisy"),
    settings.setting_of("flickr30k_entities", "val", 247, "pictures", "tflite:lite2"),
    settings.setting_of("scenes", "test", 1000, "store"),
  ):
    assert row.printed_for(other) == {}


def test_departures_name_what_a_scale_replaces():
  row = experiments.Row(
    name="a", label="a", training=Training(epochs=9), published=Training(epochs=3)
  )
  assert row.departures == {"epochs": (3, 9)}
  twin = dataclasses.replace(row, name="b")
  assert experiments.group_departures([row, twin]) == {"epochs 9 instead of 3": ["a", "b"]}
  assert dataclasses.replace(row, published=None).departures == {}


def test_finished_rows_are_trained_if_an_unfinished_one_needs_their_run():
  table = make_table(
    teacher=Training(), student=Training(teacher="@teacher"), tuned=Training(start="@student")
  )

  def to_train(done=(), runs=()):
    rows = experiments.to_train(table, ["tuned"], [*done, *runs].__contains__, runs.__contains__)
    return [row.name for row in rows]

  assert to_train() == ["teacher", "student", "tuned"]
  assert to_train(done=["teacher", "student", "tuned"]) == []
  assert to_train(done=["teacher", "student"]) == ["teacher", "student", "tuned"]
  assert to_train(done=["teacher"], runs=["student"]) == ["tuned"]
  assert to_train(done=["tuned"]) == ["teacher", "student"]
