"""Tests of gcap_tf/registry.py."""

import sys

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


def test_modules_of_a_package_register_themselves(tmp_path, monkeypatch):
  package = tmp_path / "toys"
  package.mkdir()
  (package / "__init__.py").write_text("FOUND = []\n")
  for name in ("b", "a"):
    (package / f"{name}.py").write_text(f"import toys\n\ntoys.FOUND.append({name!r})\n")
  monkeypatch.syspath_prepend(tmp_path)
  import_modules = registry.import_modules  # Called so, the toys need no build target.
  import_modules("toys")
  import_modules("toys")  # A second call imports nothing again.
  assert sys.modules["toys"].FOUND == ["a", "b"]
