import shutil

import pytest

from gcap_tf.metrics.java_scorers import java, meteor

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")

REFERENCES = {
  "1": ["a brown dog runs on green grass", "the dog is running"],
  "2": ["a man with a red hat", "two people"],
  "3": ["a café near the sea"],
}
CAPTIONS = {"1": "a dog runs on the grass", "2": "", "3": "a café by  the sea ||| here"}


@needs_java
def test_equals_the_standard_wrapper():
  total, each = meteor.meteor(REFERENCES, CAPTIONS)
  # From pycocoevalcap's Meteor on the same captions.
  assert total == pytest.approx(0.23575476830034367, abs=1e-9)
  expected = {"1": 0.31021470895058056, "2": 0.0, "3": 0.34272262745996446}
  assert each == pytest.approx(expected, abs=1e-9)


@needs_java
def test_a_slow_run_is_ended():
  with pytest.raises(java.NotComputed, match=r"took longer than 0\.05 s"):
    meteor.meteor(REFERENCES, CAPTIONS, timeout_seconds=0.05)


@needs_java
def test_too_little_memory_is_reported_in_javas_words():
  with pytest.raises(java.NotComputed, match=r"METEOR stopped: .*(heap|memory|Memory)"):
    meteor.meteor(REFERENCES, CAPTIONS, heap="8m")


def test_without_java_there_is_a_reason(monkeypatch):
  monkeypatch.setenv("PATH", "")
  with pytest.raises(java.NotComputed, match="no java"):
    meteor.meteor(REFERENCES, CAPTIONS)
