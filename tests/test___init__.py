"""Tests of gcap_tf/__init__.py."""

import importlib.metadata

import pytest

import gcap_tf


def test_the_version_is_that_of_the_project():
  assert gcap_tf.__version__.count(".") == 2


def test_an_installed_package_knows_its_version(tmp_path, monkeypatch):
  monkeypatch.setattr(gcap_tf, "__file__", str(tmp_path / "gcap_tf" / "__init__.py"))
  monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{name} 7.0.1")
  assert gcap_tf.__version__ == "gcap_tf 7.0.1"


def test_other_attributes_are_missing_as_usual():
  with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
    gcap_tf.nothing  # noqa: B018
