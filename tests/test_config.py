"""Tests of gcap_tf/config.py."""

import dataclasses
from typing import Any, Literal

import pytest

from gcap_tf import config, errors


@dataclasses.dataclass(frozen=True)
class Inner:
  rate: float = 0.5
  kind: Literal["a", "b"] = "a"


@dataclasses.dataclass(frozen=True)
class Outer:
  steps: int = 3
  name: str | None = None
  sizes: tuple[int, ...] = (1, 2)
  on: bool = False
  options: dict[str, Any] = dataclasses.field(default_factory=dict)
  inner: Inner = dataclasses.field(default_factory=Inner)


def test_a_config_survives_json():
  original = Outer(steps=7, name="x", sizes=(4,), inner=Inner(rate=1.0, kind="b"))
  assert config.from_dict(Outer, config.to_dict(original)) == original


def test_free_options_are_set_one_by_one():
  changed = config.override(Outer(), ["options.size=4", "options.kind=small"])
  assert changed.options == {"size": 4, "kind": "small"}


def test_an_unknown_option_names_the_nearest():
  with pytest.raises(errors.UserError, match=r'unknown option "stepz".*did you mean "steps"'):
    config.from_dict(Outer, {"stepz": 1})


def test_override_reaches_into_groups_and_converts():
  changed = config.override(
    Outer(), ["inner.rate=2", "name=some text", "sizes=[3,4,5]", "on=true", "inner.kind=b"]
  )
  assert changed == Outer(name="some text", sizes=(3, 4, 5), on=True, inner=Inner(2.0, "b"))
  assert isinstance(changed.inner.rate, float)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("True", True), ("False", False)])
def test_a_truth_value_is_written_as_in_json_or_in_python(text, value):
  assert config.override(Outer(on=not value), [f"on={text}"]).on is value


def test_nothing_is_written_as_in_json_or_in_python():
  for text in ("null", "None"):
    assert config.override(Outer(name="x"), [f"name={text}"]).name is None


@pytest.mark.parametrize(
  ("assignment", "message"),
  [
    ("steps", "write it as"),
    ("nothing.x=1", 'no group "nothing"'),
    ("inner.kind=c", "choose one of 'a', 'b'"),
    ("steps=true", "expected int"),
    ("steps=1.5", "expected int"),
    ("sizes=3", "expected a list"),
  ],
)
def test_a_wrong_override_says_what_is_wrong(assignment, message):
  with pytest.raises(errors.UserError, match=message):
    config.override(Outer(), [assignment])


@dataclasses.dataclass(frozen=True)
class Ranged:
  """Options with ranges.

  Attributes:
    size: of the thing,
      in units.
    low, high: both ends.
  """

  size: config.PositiveInt = 2
  low: config.Fraction = 0.0
  high: config.Rate = 1.0
  weight: config.Weight = 1.0
  inner: Inner = dataclasses.field(default_factory=Inner)


@pytest.mark.parametrize(
  ("assignment", "message"),
  [
    ("size=0", "^size is 0; expected 1 or more"),
    ("low=1.5", r"low is 1\.5; expected from 0 to 1"),
    ("high=0", r"high is 0\.0; expected above 0 to 1"),
    ("weight=-1", r"weight is -1\.0; expected 0 or more"),
    ("weight=NaN", "weight is nan; expected 0 or more"),
    ("inner=3", "inner is 3; it is a group"),
  ],
)
def test_a_value_out_of_its_range_is_refused_by_name(assignment, message):
  with pytest.raises(errors.UserError, match=message):
    config.override(Ranged(), [assignment])


def test_check_looks_at_values_that_were_set_in_python():
  assert config.check(Ranged(size=5)) == Ranged(size=5)
  with pytest.raises(errors.UserError, match="size is -3"):
    config.check(Ranged(size=-3))


def test_every_option_is_described_with_type_range_default_and_meaning():
  rows = {row[0]: row[1:] for row in config.describe(Ranged())}
  assert rows["size"] == ("int, 1 or more", "2", "of the thing, in units.")
  assert rows["high"] == ("float, above 0 to 1", "1.0", "both ends.")
  assert rows["inner.kind"] == ("a | b", '"a"', "")


def test_the_table_of_options_has_one_line_an_option():
  lines = config.table(config.describe(Ranged())).splitlines()
  assert lines[0].split() == ["option", "type", "and", "range", "default", "meaning"]
  assert lines[1].split("  ")[0] == "size" and lines[1].endswith("of the thing, in units.")
  assert len(lines) == 1 + 6
