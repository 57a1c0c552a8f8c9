"""Tests of trainers/decode_flags.py."""

import types

from absl import flags
from absl.testing import flagsaver

from gcap_tf.captioners import catalog
from trainers import decode_flags

flags.FLAGS(["test"])


def run(model="updown", **config):
  cls = catalog.CAPTIONERS.get(model)
  sizes = {"vocabulary_size": 5, "feature_size": 4, "hidden_size": 4, "embedding_size": 4}
  return types.SimpleNamespace(model=cls(cls.Config(**sizes)), config=config)


def test_the_captioner_decides_what_the_flags_leave_open():
  assert decode_flags.configuration(run()).unknown == "allow"
  assert decode_flags.configuration(run("gvd")).unknown == "second_best"
  assert decode_flags.configuration(run(max_length=16)).max_length == 16
  assert decode_flags.configuration(run()).max_length == 20


def test_flags_decide_first():
  with flagsaver.flagsaver(decode="beam", beam_size=5, max_length=7):
    found = decode_flags.configuration(run("gvd", max_length=16))
  assert (found.method, found.beam_size, found.max_length) == ("beam", 5, 7)
  assert found.unknown == "suppress"
  with flagsaver.flagsaver(unknown="allow"):
    assert decode_flags.configuration(run("gvd")).unknown == "allow"
