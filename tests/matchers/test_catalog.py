"""The catalog of matchers."""

import pytest

from gcap_tf import config, errors
from gcap_tf.matchers import catalog
from tests import matcher_harness


def test_every_matcher_is_there_under_its_name():
  assert catalog.MATCHERS.names() == ["bfan", "pfan", "pos_scan", "scan", "sgraf", "vsepp"]


def test_every_config_survives_json():
  for name in catalog.MATCHERS.names():
    cls = catalog.MATCHERS.get(name).Config
    made = cls(vocabulary_size=12, feature_size=7)
    assert config.from_dict(cls, config.to_dict(made)) == made


def test_a_misspelt_matcher_names_the_nearest():
  with pytest.raises(errors.UserError, match="did you mean"):
    catalog.MATCHERS.get("scann")


@pytest.mark.parametrize("name", catalog.MATCHERS.names())
def test_fit_takes_steps_on_the_ranking_loss(name):
  matcher = matcher_harness.small(catalog.MATCHERS.get(name))
  matcher_harness.check_fit(matcher, matcher_harness.example_batch())


def test_a_value_out_of_range_is_refused():
  for key, value in (("joint_size", 0), ("word_size", -1), ("feature_size", -1)):
    with pytest.raises(errors.UserError, match=key):
      config.from_dict(catalog.MATCHERS.get("scan").Config, {"vocabulary_size": 9, key: value})
