"""Tests of gcap_tf/captioners/topdown_config.py."""

from gcap_tf import config as configs
from gcap_tf.captioners import topdown_config


def test_options_survive_the_way_through_a_file():
  options = topdown_config.TopDownConfig(11, naming=True, num_labels=2, label_words=(0, 3, 5))
  written = configs.to_dict(options)
  assert configs.from_dict(topdown_config.TopDownConfig, written, "captioner") == options


def test_what_papers_did_not_have_is_off():
  options = topdown_config.TopDownConfig(11)
  assert (options.branches, options.localizer, options.naming) == (1, "none", False)
