import numpy as np
import pytest

from gcap_tf.data.stores import noisy_config, noisy_features


def test_the_typical_spot_can_carry_more_class_than_the_whole():
  # By hand, for the spot alone: purity = focus = 1, coverage c = side^2, boost b:
  #   s = ((1 - w) * sqrt(c) + w) * (1 + b * (1 - c)); the whole object has s = 1.
  config = noisy_config.NoisyConfig(signal_noise=0.0, focus_boost=0.7)
  whole = np.asarray([[0, 0, 100, 100]], np.float32)
  spot = np.asarray([[20, 20, 70, 70]], np.float32)
  rng = np.random.Generator(np.random.PCG64(1))
  boost = 1.4 * np.random.Generator(np.random.PCG64(1)).random(1, np.float32)[0]
  _, signal = noisy_features.signal_of(np.concatenate([whole, spot]), whole, spot, config, rng)
  assert signal[0, 0] == pytest.approx(1.0)
  assert signal[1, 0] == pytest.approx((0.5 * 0.5 + 0.5) * (1 + boost * 0.75), rel=1e-5)


def test_the_noise_is_gaussian():
  draws = noisy_features.gaussian(np.random.Generator(np.random.PCG64(1)), (1000, 200)).ravel()
  assert draws.dtype == np.float32
  assert draws.mean() == pytest.approx(0, abs=0.01)
  assert draws.std() == pytest.approx(1, abs=0.01)
  assert (draws**4).mean() == pytest.approx(3, abs=0.1)
  assert (draws > 1.6449).mean() == pytest.approx(0.05, abs=0.003)
