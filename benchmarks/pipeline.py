"""How many batches a second the data pipeline makes, beside what training can use.

    python -m benchmarks.pipeline --step_seconds=0.5

Makes a prepared folder of random features for each shape and reads it, once from the
files at every batch (the page cache of the system helps) and once with decoded pictures
kept in memory. Prints a table, then one JSON object.
"""

import dataclasses
import json
import pathlib
import resource
import tempfile
import time

import numpy as np
from absl import flags

from gcap_tf import errors
from gcap_tf.data import pipeline, prepared, prepared_writer, records

_PICTURES = flags.DEFINE_integer("pictures", 400, "pictures of the folder that is made")
_SECONDS = flags.DEFINE_float("seconds", 5.0, "time to measure each case for")
_STEP_SECONDS = flags.DEFINE_float(
  "step_seconds", 0.0, "time of a training step; prints how many times faster batches are made"
)

# name -> layout, regions, feature size, batch
SHAPES = {
  "SCAN 128 captions": (
    "matcher",
    36,
    2048,
    pipeline.BatchConfig(images=128, items="caption", max_words=40, buckets=(12, 16, 24)),
  ),
  "Up-Down 10 x 5": (
    "captioner",
    36,
    2048,
    pipeline.BatchConfig(images=10, captions_per_image=5, max_words=16),
  ),
  "demo 16 x 5": (
    "captioner",
    16,
    64,
    pipeline.BatchConfig(images=16, captions_per_image=5, max_words=16, buckets=(8, 12)),
  ),
}
_WORDS = [f"word{n}" for n in range(2000)]


def random_records(count: int, regions: int, feature_size: int) -> list[records.Record]:
  """Pictures of random features with five captions of 5 to 25 words, two object words each."""
  rng = np.random.default_rng(0)
  made = []
  for picture in range(count):
    low = rng.uniform(0, 300, [regions, 2])
    boxes = np.concatenate([low, low + rng.uniform(20, 100, [regions, 2])], 1).astype(np.float32)
    captions = []
    for number in range(5):
      tokens = tuple(rng.choice(_WORDS, rng.integers(5, 26)).tolist())
      objects = tuple(records.ObjectWord(n, tokens[n], boxes[n]) for n in (1, 4))
      tags = ("NOUN", "VERB") * len(tokens)
      captions.append(
        records.Caption(f"{picture}#{number}", "", tokens, tags[: len(tokens)], (), objects)
      )
    made.append(
      records.Record(
        image_id=str(picture),
        split="train",
        width=400,
        height=400,
        captions=tuple(captions),
        regions=records.Regions(
          boxes, rng.standard_normal([regions, feature_size], np.float32), ("thing",) * regions
        ),
      )
    )
  return made


def prepare(folder: pathlib.Path, regions: int, feature_size: int) -> prepared.PreparedData:
  folder.mkdir()
  items = random_records(_PICTURES.value, regions, feature_size)
  prepared_writer.finish(
    folder,
    [prepared_writer.write_shard(folder, "train", 0, 1, items)],
    dataset="random",
    command="benchmarks.pipeline",
    detector={},
  )
  return prepared.PreparedData(folder)


def batches_per_second(dataset, warm_up: int) -> float:
  """The rate at which batches come once `warm_up` of them have passed."""
  batches = iter(dataset)
  for _ in range(warm_up):
    next(batches)
  start, count = time.monotonic(), 0
  while time.monotonic() - start < _SECONDS.value:
    next(batches)
    count += 1
  return count / (time.monotonic() - start)


def main(argv: list[str]) -> None:
  del argv
  results = {}
  print(f"{'shape':20s} {'pictures':>10s} {'batches/s':>10s} {'MB/s':>8s} {'x step':>8s}")
  for name, (layout, regions, feature_size, config) in SHAPES.items():
    with tempfile.TemporaryDirectory() as scratch:
      data = prepare(pathlib.Path(scratch) / "data", regions, feature_size)
      split, vocabulary = data.split("train"), data.build_vocabulary(layout, 1)
      for kept, budget in (("from files", 0), ("in memory", 8 << 30)):
        chosen = dataclasses.replace(config, cache_bytes=budget)
        dataset = pipeline.training_batches(split, vocabulary, chosen)
        # One epoch fills the cache; what was prefetched before the clock starts is noise.
        rate = batches_per_second(dataset, pipeline.steps_per_epoch(split, chosen) + 10)
        megabytes = rate * config.images * regions * feature_size * 4 / 1e6
        ratio = rate * _STEP_SECONDS.value
        shown = f"{ratio:8.1f}" if ratio else "       -"
        print(f"{name:20s} {kept:>10s} {rate:10.1f} {megabytes:8.0f} {shown}")
        results[f"{name}, {kept}"] = {"batches_per_second": rate, "ratio_to_step": ratio or None}
  results["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
  print(f"peak memory {results['peak_memory_mb']:,.0f} MB")
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
