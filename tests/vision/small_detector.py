"""A detector with random weights on a small canvas, for tests."""

import functools
import pathlib

import keras
import numpy as np

from gcap_tf.runs import detector_runs, packed_weights
from gcap_tf.vision import annotations
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


LABELS = ("man", "woman", "dog", "shirt", "ball")
COLOURS = annotations.COLOURS


def write_run(folder: pathlib.Path, change: float = 0.0) -> str:
  """A run folder of the detector; `change` is added to its label logits' bias of "man"."""
  made = make()
  folder.mkdir(parents=True)
  backbone = folder / "backbone.weights.h5"
  made.backbone.save_weights(backbone)
  extra = {"backbone_weights": str(backbone)}
  detector_runs.write_config(folder, CONFIG, LABELS, COLOURS, extra)
  bias = made.head.namer.classes["label"].bias
  before = bias.numpy()
  bias.assign(before + change * np.eye(len(LABELS))[0])
  packed_weights.save(packed_weights.path_of(folder), made.learned)
  bias.assign(before)
  return str(folder)
