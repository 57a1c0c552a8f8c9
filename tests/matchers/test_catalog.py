"""The catalog of matchers."""

import pytest

from gcap_tf import config, errors
from gcap_tf.matchers import catalog


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
