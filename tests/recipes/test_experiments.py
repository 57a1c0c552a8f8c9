"""Tests of gcap_tf/recipes/experiments.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.recipes import experiments


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
  return experiments.Table(
    paper="paper", split="val", printed_data="flickr30k_entities", columns=(), rows=rows
  )


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


def test_printed_figures_belong_to_their_data_and_kind_of_regions():
  table = make_table(a=Training())
  assert table.compares_with("flickr30k_entities", "store")
  assert not table.compares_with("flickr30k_entities", "noisy")
  assert not table.compares_with("flickr30k_entities", "perfect")
  assert not table.compares_with("scenes", "store")
