"""Tests of gcap_tf/commands.py: command lines as a user types them."""

import pytest

from gcap_tf import commands
from trainers import command


@pytest.fixture
def clone(tmp_path, monkeypatch):
  """A folder that stands for a clone without an environment."""
  (tmp_path / "pyproject.toml").touch()
  monkeypatch.setattr(commands, "_ROOT", tmp_path)
  commands._python.cache_clear()
  yield tmp_path
  commands._python.cache_clear()


def test_modules_are_those_that_gcap_starts():
  assert {name: commands.module(name) for name in command.COMMANDS} == command.COMMANDS


def test_a_clone_uses_its_environment(clone, monkeypatch):
  (clone / ".venv" / "bin").mkdir(parents=True)
  (clone / ".venv" / "bin" / "python").touch()
  assert commands.command("prepare_data") == ".venv/bin/python -m trainers.prepare_data"
  assert commands.command("fetch_spice") == ".venv/bin/python -m gcap_tf.metrics.fetch_spice"


def test_an_installed_package_uses_gcap(clone):
  (clone / "pyproject.toml").unlink()
  assert commands.command("server") == "gcap server"
  assert commands.localise("run python -m trainers.caption --out=x") == "run gcap caption --out=x"


def test_a_clone_without_an_environment_uses_python_or_gcap(clone, monkeypatch):
  monkeypatch.setattr("shutil.which", lambda name: None)
  assert commands.command("caption") == "python -m trainers.caption"
  commands._python.cache_clear()
  monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/gcap")
  assert commands.command("caption") == "gcap caption"
