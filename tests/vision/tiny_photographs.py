"""A few drawn photographs with annotations in the format of Flickr30k Entities."""

from benchmarks.reliability import drawn_photographs
from gcap_tf.training import detector_data
from gcap_tf.vision import detector

WORDS = drawn_photographs.WORDS
COLOURS = drawn_photographs.COLOURS
make = drawn_photographs.make
# A small detector on random weights: what tests of training use.
OPTIONS = {"size": 64, "width": 8, "depth": 1, "units": 8, "candidates": 84}
CONFIG = detector.DetectorConfig(labels=2, colours=11, **OPTIONS)


def sources(folder, **counts):
  """The same as what training reads."""
  source, pictures = make(folder, **counts)
  classes = folder / "flickr30k_class_name.txt"
  return detector_data.Sources(*map(str, (source, pictures, classes, folder / "cache")))
