"""Tests of gcap_tf/rewards/spice.py."""

import os
import shutil

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics.java_scorers import spice_jars
from gcap_tf.rewards import spice
from gcap_tf.text import vocabulary as vocabularies

VOCABULARY = vocabularies.Vocabulary("captioner", ("", "a", "man", "in", "red", "hat", "UNK"))
REFERENCES = {"1": ["a man with a red hat", "a man wearing a hat"]}
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")


def test_without_java_the_reward_is_refused_before_training(monkeypatch):
  monkeypatch.setenv("PATH", "")
  with pytest.raises(errors.UserError, match="reward spice cannot be computed: no java"):
    spice.Spice(REFERENCES, VOCABULARY)


@needs_java
def test_without_its_libraries_the_reward_is_refused_before_training(monkeypatch, tmp_path):
  monkeypatch.setenv(spice_jars.FOLDER_VARIABLE, str(tmp_path))
  with pytest.raises(errors.UserError, match=r"python -m gcap_tf\.metrics\.fetch_spice"):
    spice.Spice(REFERENCES, VOCABULARY)


@needs_java
@pytest.mark.skipif(
  not os.environ.get(spice_jars.FOLDER_VARIABLE), reason="GCAP_SPICE names no folder of libraries"
)
def test_captions_of_one_picture_are_scored_apart_and_empty_ones_are_worth_nothing():
  rows = np.array([[1, 2, 3, 1, 4, 5, 0], [0] * 7])
  np.testing.assert_allclose(spice.Spice(REFERENCES, VOCABULARY).score(rows, ["1", "1"]), [0.75, 0])
