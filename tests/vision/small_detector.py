"""A detector with random weights on a small canvas, for tests."""

import functools

import keras
import numpy as np

from gcap_tf.vision import detector as detectors

SIZE = 96
CONFIG = detectors.DetectorConfig(
  size=SIZE, labels=5, colours=11, width=16, depth=1, units=16, candidates=60
)


@functools.cache
def make() -> detectors.Detector:
  keras.utils.set_random_seed(3)
  made = detectors.Detector(CONFIG)
  rng = np.random.default_rng(0)
  standard = made.head.namer.standard
  standard.moving_mean.assign(rng.normal(0, 0.1, standard.moving_mean.shape))
  standard.moving_variance.assign(rng.uniform(0.5, 2, standard.moving_variance.shape))
  return made
