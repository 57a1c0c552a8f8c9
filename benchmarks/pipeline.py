"""Speed of the data pipeline, compared with the training steps that use its batches.

    python -m benchmarks.pipeline

For each shape it writes a prepared folder of random features and reads it twice: from the
files (with the page cache of the system), and from decoded pictures in memory, as training
does if they fit. Then it times training steps on one of these batches. "x step" is the number
of batches made in the time of a step. Prints a table, then one JSON object.
"""

import dataclasses
import json
import pathlib
import resource
import tempfile
import time

import numpy as np
import tensorflow as tf
from absl import flags

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.prepared import pipeline, prepared_data, prepared_writer
from gcap_tf.runs import run_folders
from gcap_tf.training import loss_options, optimizers
from gcap_tf.training.methods import captioning, matching

_PICTURES = flags.DEFINE_integer("pictures", 400, "Pictures of the prepared folder.")
_SECONDS = flags.DEFINE_float("seconds", 5.0, "Seconds to measure each case.")
_STEPS = flags.DEFINE_integer("steps", 5, "Timed training steps; the fastest counts.")

# name -> kind, model, its options, regions, feature size, batch
SHAPES = {
  "SCAN 128 captions": (
    "matcher",
    "scan",
    {},
    36,
    2048,
    pipeline.BatchConfig(images=128, items="caption", max_words=40, buckets=(12, 16, 24)),
  ),
  "Up-Down 10 x 5": (
    "captioner",
    "updown",
    {},
    36,
    2048,
    pipeline.BatchConfig(images=10, captions_per_image=5, max_words=16),
  ),
  "demo 64 x 2": (
    "captioner",
    "updown",
    {"hidden_size": 192, "embedding_size": 128, "attention_size": 128},
    36,
    256,
    pipeline.BatchConfig(images=64, captions_per_image=2, max_words=20, buckets=(12, 16)),
  ),
}
_WORDS = [f"word{n}" for n in range(2000)]


def random_records(count: int, regions: int, feature_size: int) -> list[records.Record]:
  """Returns random pictures with five captions of 5 to 25 words, two object words each."""
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


def prepare(folder: pathlib.Path, regions: int, feature_size: int) -> prepared_data.PreparedData:
  folder.mkdir()
  items = random_records(_PICTURES.value, regions, feature_size)
  prepared_writer.finish(
    folder,
    [prepared_writer.write_shard(folder, "train", 0, 1, items)],
    dataset="random",
    command="benchmarks.pipeline",
    detector={},
  )
  return prepared_data.PreparedData(folder)


def batches_per_second(dataset, skipped: int) -> float:
  """Returns the rate of batches after the first `skipped` ones."""
  batches = iter(dataset)
  for _ in range(skipped):
    next(batches)
  start, count = time.monotonic(), 0
  while time.monotonic() - start < _SECONDS.value:
    next(batches)
    count += 1
  return count / (time.monotonic() - start)


def step_seconds(kind: run_folders.Kind, name: str, options, vocabulary, batch) -> float:
  """Returns the time of the fastest training step: losses, gradients, update."""
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": batch["features"].shape[-1]}
  model = run_folders.make_model(kind, name, {**options, **sizes})
  trainer = (
    matching.MatchingTrainer(model, matching.MatchingLosses())
    if kind == "matcher"
    else captioning.CaptioningTrainer(model, loss_options.CaptioningLosses())
  )
  variables = [variable.value for variable in model.trainable_variables]
  optimizer = optimizers.Adam(optimizers.OptimizerConfig(), variables)

  @tf.function
  def step():
    with tf.GradientTape() as tape:
      loss = tf.add_n(list(trainer.losses(batch, tf.constant([1, 2])).values()))
    optimizer.apply(tape.gradient(loss, variables), tf.constant(1e-4))
    return loss

  seconds = []
  for _ in range(1 + _STEPS.value):
    started = time.monotonic()
    step().numpy()
    seconds.append(time.monotonic() - started)
  return min(seconds[1:])


def main(argv: list[str]) -> None:
  del argv
  results = {}
  print(f"{'shape':20s} {'pictures':>10s} {'batches/s':>10s} {'MB/s':>8s} {'x step':>8s}")
  for shape, (kind, name, options, regions, feature_size, config) in SHAPES.items():
    with tempfile.TemporaryDirectory() as scratch:
      data = prepare(pathlib.Path(scratch) / "data", regions, feature_size)
      split, vocabulary = data.split("train"), data.build_vocabulary(kind, 1)
      rates = {}
      for kept, budget in (("from files", 0), ("in memory", 8 << 30)):
        chosen = dataclasses.replace(config, cache_bytes=budget)
        dataset = pipeline.training_batches(split, vocabulary, chosen)
        # One epoch fills the cache; ten more batches use up what was prefetched.
        rates[kept] = batches_per_second(dataset, pipeline.steps_per_epoch(split, chosen) + 10)
      batch = next(iter(pipeline.training_batches(split, vocabulary, config)))
      seconds = step_seconds(kind, name, options, vocabulary, batch)
    for kept, rate in rates.items():
      megabytes = rate * config.images * regions * feature_size * 4 / 1e6
      print(f"{shape:20s} {kept:>10s} {rate:10.1f} {megabytes:8.0f} {rate * seconds:8.1f}")
      results[f"{shape}, {kept}"] = {
        "batches_per_second": rate,
        "step_seconds": seconds,
        "ratio_to_step": rate * seconds,
      }
  results["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
  print(f"peak memory {results['peak_memory_mb']:,.0f} MB")
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
