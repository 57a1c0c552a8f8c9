import pytest

from gcap_tf import errors
from gcap_tf.data.stores import noisy_config


@pytest.mark.parametrize(
  "wrong",
  [{"regions": 0}, {"feature_size": 0}, {"partial": 0.9, "enlarged": 0.9}, {"similarity": 1.0}],
)
def test_impossible_settings_are_refused(wrong):
  with pytest.raises(errors.UserError, match="noisy detector"):
    noisy_config.NoisyConfig(**wrong)


def test_harder_levels_have_more_noise():
  order = [noisy_config.LEVELS[name].noise for name in ("clean", "mild", "default", "hard")]
  assert order == sorted(order)
