import pytest

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data.stores import noisy_config


def test_shares_that_add_up_to_more_than_one_are_refused():
  with pytest.raises(errors.UserError, match=r"partial \+ enlarged \+ background is 2; expected 1"):
    noisy_config.NoisyConfig(partial=0.9, enlarged=0.9)


@pytest.mark.parametrize("name", ["regions", "feature_size"])
def test_regions_and_features_are_one_or_more(name):
  with pytest.raises(errors.UserError, match=f"noisy.{name} is 0; expected 1 or more"):
    configs.check(noisy_config.NoisyConfig(**{name: 0}), "noisy")


def test_harder_levels_have_more_noise():
  order = [noisy_config.LEVELS[name].noise for name in ("clean", "mild", "default", "hard")]
  assert order == sorted(order)
