"""Measures how well the regions of the simulated detector can be grounded, and its speed.

    python -m benchmarks.detectors
    python -m benchmarks.detectors --source=DIR --split=val --max_images=500

Prints the table of docs/detectors.md: for each noise level the share of object words that a
nearest-prototype oracle grounds with IoU > 0.5, and the shares of its errors. --source reads
Flickr30k Entities; without it the benchmark draws scenes.
"""

import dataclasses
import time

from absl import flags

from benchmarks import detector_oracle
from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.readers import flickr_entities
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector

SOURCE = flags.DEFINE_string("source", "", "Flickr30k Entities folder; empty for drawn scenes.")
SPLIT = flags.DEFINE_string("split", "val", "Split of --source.")
MAX_IMAGES = flags.DEFINE_integer("max_images", 400, "Pictures to measure on.", lower_bound=1)
REGIONS = flags.DEFINE_multi_integer("regions", [36, 100], "Proposals per picture; repeatable.")

HEADER = "| level | regions | words | correct | partial | enlarged | confusion | deviated |"


def read_records() -> list[records.Record]:
  if SOURCE.value:
    source = flickr_entities.FlickrEntities(SOURCE.value)
    return list(source.read((SPLIT.value,), MAX_IMAGES.value, progress=False))
  config = drawn_scenes.SceneConfig(train=MAX_IMAGES.value, val=0, test=0, seed=3)
  return list(drawn_scenes.generate(config))


def records_per_second(
  dataset: list[records.Record], config: simulated_detector.NoisyConfig
) -> float:
  """Returns the rate of one process in processor time; the first pass fills the caches."""
  seconds = []
  for _ in range(3):
    start = time.process_time()
    for record in dataset:
      simulated_detector.noisy(record, config)
    seconds.append(time.process_time() - start)
  return len(dataset) / min(seconds)


def main(_: list[str]) -> None:
  dataset = read_records()
  print(HEADER)
  print("|---" * HEADER.count(" | ") + "|---|")
  for regions in REGIONS.value:
    for name, level in simulated_detector.LEVELS.items():
      config = dataclasses.replace(level, regions=regions)
      report = detector_oracle.oracle_accuracy(dataset, config)
      shares = (report.accuracy, report.partial, report.enlarged, report.confusion, report.deviated)
      cells = " | ".join(f"{100 * share:.1f}" for share in shares)
      print(f"| {name} | {regions} | {report.words} | {cells} |")
  for regions in REGIONS.value:
    config = simulated_detector.NoisyConfig(regions=regions)
    speed = records_per_second(dataset, config)
    print(f"{regions} regions x {config.feature_size}: {speed:,.0f} records/s per core")


if __name__ == "__main__":
  errors.run(main)
