"""Tests of trainers/region_flags.py."""

import types

from absl import flags
from absl.testing import flagsaver

from gcap_tf.text import vocabulary as vocabularies
from trainers import region_flags

flags.FLAGS(["test"])
WORDS = vocabularies.Vocabulary("captioner", ("", "man", "UNK"), ("man", "person"))
RUN = types.SimpleNamespace(vocabulary=WORDS)
SPLIT = types.SimpleNamespace(data=types.SimpleNamespace(info={}, feature_size=0, global_size=0))


def test_nothing_changes_by_default():
  assert region_flags.change(RUN, SPLIT) is None


def test_flags_become_noise():
  with flagsaver.flagsaver(drop_regions=0.25, max_regions=3, label_names="coco"):
    noise = region_flags.change(RUN, SPLIT).config
  assert (noise.drop, noise.few, noise.few_most, noise.foreign) == (0.25, 1.0, 3, 1.0)
