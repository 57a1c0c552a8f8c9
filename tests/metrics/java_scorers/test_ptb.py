import shutil

import pytest
from pycocoevalcap.tokenizer import ptbtokenizer

from gcap_tf.metrics.java_scorers import ptb

TEXTS = [
  "A man's dog, running (fast) in the U.S. -- it can't stop!",
  'Two "big" men & a 3.5-ton truck; near St. Mary\'s...',
  "",
  "A line\nbreak and\u2028another one",
  "Last.",
]

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")


@needs_java
def test_java_gives_what_the_standard_wrapper_keeps():
  lines = ptb.tokenize_java(TEXTS)
  assert lines[0].split()[:4] == ["a", "man", "'s", "dog"]
  assert lines[2] == ""
  assert lines[3] == "a line break and another one"
  assert lines[4] == "last"
  assert not {word for line in lines for word in line.split()} & {".", ",", "!", "--", "..."}
  assert frozenset(ptbtokenizer.PUNCTUATIONS) == ptb._PUNCTUATION


@needs_java
def test_the_tokenizer_is_named():
  assert ptb.tokenize(["A dog."]) == (["a dog"], ptb.JAVA)


def test_without_java_our_tokenizer_stands_in_and_says_why(monkeypatch):
  monkeypatch.setenv("PATH", "")
  lines, name = ptb.tokenize(["A man's dog.", ""])
  assert lines == ["a man 's dog", ""]
  assert name.startswith(ptb.OWN) and "no java" in name
