"""Tests of gcap_tf/__init__.py."""

import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest

import gcap_tf
from gcap_tf.captioners import updown
from gcap_tf.matchers import scan
from tests import captioner_harness, matcher_harness

# What `register_keras` imports.
CATALOGS = ("gcap_tf.captioners.catalog", "gcap_tf.matchers.catalog", "gcap_tf.vision.detector")


def test_the_version_is_that_of_the_project():
  assert gcap_tf.__version__.count(".") == 2


def test_an_installed_package_knows_its_version(tmp_path, monkeypatch):
  monkeypatch.setattr(gcap_tf, "__file__", str(tmp_path / "gcap_tf" / "__init__.py"))
  monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{name} 7.0.1")
  assert gcap_tf.__version__ == "gcap_tf 7.0.1"


def test_other_attributes_are_missing_as_usual():
  with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
    gcap_tf.nothing  # noqa: B018


def test_one_call_lets_keras_load_every_kind_of_model(tmp_path):
  """In a new process, where `import gcap_tf` has imported neither TensorFlow nor a model."""
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 4}
  config = updown.UpDownConfig(vocabulary_size=11, feature_size=7, **sizes)
  captioner = updown.UpDownCaptioner(config)
  captioner.save(tmp_path / "captioner.keras")
  matcher = matcher_harness.small(scan.SCANMatcher)
  matcher.save(tmp_path / "matcher.keras")
  program = """
import sys
import gcap_tf
assert not {"tensorflow", "keras"} & set(sys.modules)
gcap_tf.register_keras()
import keras, numpy as np
from tests import captioner_harness, matcher_harness
captioner, matcher = (keras.models.load_model(f"{sys.argv[1]}/{name}.keras")
                      for name in ("captioner", "matcher"))
np.save(f"{sys.argv[1]}/logits", captioner(captioner_harness.make_batch())["logits"])
np.save(f"{sys.argv[1]}/similarity", matcher(matcher_harness.example_batch()))
assert keras.saving.get_registered_object("gcap_tf>Detector")
assert set(sys.argv[2:]) <= set(sys.modules)
"""
  subprocess.run([sys.executable, "-c", program, str(tmp_path), *CATALOGS], check=True)
  logits, similarity = np.load(tmp_path / "logits.npy"), np.load(tmp_path / "similarity.npy")
  np.testing.assert_array_equal(logits, captioner(captioner_harness.make_batch())["logits"])
  np.testing.assert_array_equal(similarity, matcher(matcher_harness.example_batch()))
