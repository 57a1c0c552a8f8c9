"""Tests of gcap_tf/registry.py."""

import pytest

from gcap_tf import errors, registry


def test_a_wrong_name_lists_the_known_and_the_nearest():
  matchers = registry.Registry("matcher")
  matchers.register("scan")(int)
  matchers.register("bfan")(float)
  with pytest.raises(errors.UserError) as caught:
    matchers.get("scann")
  assert str(caught.value) == ('unknown matcher "scann"; known: bfan, scan (did you mean "scan"?)')
  assert matchers.get("scan") is int
  assert matchers.name_of(float) == "bfan"


def test_a_name_is_registered_once():
  names = registry.Registry("thing")
  names.register("a")(1)
  with pytest.raises(ValueError, match="registered twice"):
    names.register("a")(2)
