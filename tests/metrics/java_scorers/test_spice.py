import os
import shutil

import pytest

from gcap_tf.metrics.java_scorers import java, spice, spice_jars

REFERENCES = {"1": ["a man with a red hat", "a man wearing a hat"], "2": ["two dogs"]}
CAPTIONS = {"1": "a man in a red hat", "2": ""}

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")


@needs_java
def test_missing_libraries_are_named_with_the_command_that_fetches_them(monkeypatch, tmp_path):
  monkeypatch.setenv(spice_jars.FOLDER_VARIABLE, str(tmp_path))
  with pytest.raises(java.NotComputed, match=r"python -m gcap_tf.metrics.fetch_spice"):
    spice.spice(REFERENCES, CAPTIONS)


@needs_java
@pytest.mark.skipif(
  not os.environ.get(spice_jars.FOLDER_VARIABLE), reason="GCAP_SPICE names no folder of libraries"
)
def test_scores_propositions_in_common():
  total, each = spice.spice(REFERENCES, CAPTIONS, heap="3g")
  # Said: man, hat, hat-red, man-in-hat. Meant: man, hat, hat-red, and a relation. 3 of 4 each.
  assert each == {"1": 0.75, "2": 0.0}
  assert total == 0.375


def test_without_java_there_is_a_reason(monkeypatch):
  monkeypatch.setenv("PATH", "")
  with pytest.raises(java.NotComputed, match="no java"):
    spice.spice(REFERENCES, CAPTIONS)
