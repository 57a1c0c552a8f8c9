"""Shows that memory grows with the batch and not with the data.

    python -m benchmarks.memory

Trains a small SCAN for one epoch over N and over 10 N pictures of 36 x 512 features, and over
N pictures with a batch four times as large, each in its own process with a cache of 16 MiB for
decoded pictures. Prints a table, then one JSON object.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import keras
from absl import flags

from benchmarks import pipeline as pipelines
from gcap_tf import errors
from gcap_tf.data.prepared import pipeline, prepared_data, prepared_writer
from gcap_tf.matchers import scan
from gcap_tf.training import loop
from gcap_tf.training.methods import matching

_CHILD = flags.DEFINE_string("child", "", "Internal: prepared folder of a child process.")
_BATCH = flags.DEFINE_integer("batch", 64, "Internal: captions per step of a child process.")
PICTURES, REGIONS, FEATURES, CACHE_BYTES = 300, 36, 512, 16 << 20


def train(folder: pathlib.Path, batch: int) -> None:
  """Trains one epoch; prints the peak memory of the process before and after training."""
  data = prepared_data.PreparedData(folder)
  split, vocabulary = data.split("train"), data.build_vocabulary("matcher", 1)
  config = pipeline.BatchConfig(
    images=batch, items="caption", max_words=25, cache_bytes=CACHE_BYTES
  )
  keras.utils.set_random_seed(1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": FEATURES}
  model = scan.SCANMatcher(scan.SCANMatcher.Config(joint_size=32, word_size=16, **sizes))
  trainer = matching.MatchingTrainer(model, matching.MatchingLosses())
  steps = pipeline.steps_per_epoch(split, config)
  before = _peak_memory()
  with tempfile.TemporaryDirectory() as run:
    loop.train(
      trainer,
      lambda step: pipeline.training_batches(split, vocabulary, config, step),
      loop.LoopConfig(steps=steps, steps_per_epoch=steps),
      run,
    )
  print(json.dumps({"steps": steps, "before_mib": before, "most_mib": _peak_memory()}))


def _peak_memory() -> int:
  return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def write_folder(folder: pathlib.Path, count: int) -> None:
  """Writes random features and captions, in shards of at most 300 pictures."""
  folder.mkdir()
  items = pipelines.random_records(count, REGIONS, FEATURES)
  shards = -(-count // 300)
  prepared_writer.finish(
    folder,
    [
      prepared_writer.write_shard(folder, "train", n, shards, items[n * 300 : (n + 1) * 300])
      for n in range(shards)
    ],
    dataset="random",
    command="benchmarks.memory",
    detector={},
  )


def measure(folder: pathlib.Path, batch: int) -> dict[str, int]:
  child = subprocess.run(
    [sys.executable, "-m", "benchmarks.memory", f"--child={folder}", f"--batch={batch}"],
    capture_output=True,
    text=True,
  )
  if child.returncode:
    raise errors.UserError(f"training over {folder} failed: {child.stderr[-500:]}")
  return json.loads(child.stdout.splitlines()[-1])


def main(_: list[str]) -> None:
  if _CHILD.value:
    return train(pathlib.Path(_CHILD.value), _BATCH.value)
  rows = []
  with tempfile.TemporaryDirectory() as temporary:
    folders = {}
    for count in (PICTURES, 10 * PICTURES):
      folders[count] = pathlib.Path(temporary) / str(count)
      write_folder(folders[count], count)
    small, large = folders
    print("| pictures | data | batch | steps | before training | at most |")
    print("|---|---|---|---|---|---|")
    for count, batch in ((small, 64), (large, 64), (small, 256)):
      size = sum(path.stat().st_size for path in folders[count].iterdir()) >> 20
      row = {"pictures": count, "data_mib": size, "batch": batch, **measure(folders[count], batch)}
      rows.append(row)
      print(
        f"| {count:,} | {size} MiB | {batch} | {row['steps']} | {row['before_mib']} MiB "
        f"| {row['most_mib']} MiB |",
        flush=True,
      )
  return print(json.dumps(rows))


if __name__ == "__main__":
  errors.run(main)
