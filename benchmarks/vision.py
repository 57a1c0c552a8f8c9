"""Measures the way from photographs to regions: each part, and extraction with two processes.

    python -m benchmarks.vision --pictures=DIR
    python -m benchmarks.vision --pictures=DIR --run=runs/eyes --extract=400

Parts are timed by turns in one process of one thread, so that a busy machine slows all of them
alike; the ratio to the backbone alone is what counts. Rates of extraction are those of the
files as they appear, so that the start of the processes does not count.
"""

import itertools
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import turns
from gcap_tf import errors
from gcap_tf.runs import detector_runs
from gcap_tf.vision import canvas, pictures, regions
from gcap_tf.vision.extraction import local, region_extractor

_PICTURES = flags.DEFINE_string("pictures", None, "Folder of photographs.", required=True)
_RUN = flags.DEFINE_string("run", "shipped", "Run folder of a detector, or shipped.")
_COUNT = flags.DEFINE_integer("count", 40, "Photographs whose parts are timed.", 1)
_EXTRACT = flags.DEFINE_integer("extract", 200, "Photographs to extract; 0 leaves it out.", 0)
REGIONS = 36


def parts(
  run: detector_runs.DetectorRun, inputs: Sequence[bytes]
) -> dict[str, Callable[[bytes], object]]:
  """Functions of a file's bytes, from the backbone alone to regions with features.

  The backbone alone reads canvases of `inputs` that are ready before the clock starts.
  """
  maker = regions.RegionMaker(run.detector)
  size = run.detector.config.size
  backbone = tf.function(run.detector.backbone.__call__)
  ready = {data: canvas.place(pictures.decode(data), size)[0][None] for data in inputs}

  @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
  def decode(data):
    return canvas.place(pictures.decode(data), size)

  @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
  def boxes(data):
    placed, content = canvas.place(pictures.decode(data), size)
    maps = run.detector.backbone(placed[None])
    return run.detector.head.propose(maps, content[None], REGIONS)

  @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
  def whole(data):
    placed, content = canvas.place(pictures.decode(data), size)
    return maker.propose(placed[None], content[None], REGIONS)

  return {
    "backbone alone": lambda data: backbone(ready[data]),
    "decoding and canvas": decode,
    f"photograph to {REGIONS} boxes": boxes,
    f"photograph to {REGIONS} regions": whole,
  }


def extraction_rate(found: Mapping[str, pathlib.Path], run: str, workers: int) -> float:
  """Pictures a second while all processes work."""
  with tempfile.TemporaryDirectory() as folder:
    config = region_extractor.ExtractionConfig(detector=run, regions=REGIONS)
    local.extract(found, folder, config, detector_runs.load, workers)
    times = sorted(path.stat().st_mtime for path in pathlib.Path(folder, "att").iterdir())
  # Processes start and end one after another: the middle of the run counts.
  first, last = len(times) // 5, len(times) - len(times) // 10 - 1
  return (last - first) / (times[last] - times[first])


def main(_: list[str]) -> None:
  found = pictures.find(_PICTURES.value)
  if _EXTRACT.value:
    chosen = dict(itertools.islice(found.items(), _EXTRACT.value))
    rates = {workers: extraction_rate(chosen, _RUN.value, workers) for workers in (1, 2)}
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  inputs = [path.read_bytes() for path in list(found.values())[: _COUNT.value]]
  seconds = turns.by_turns(parts(detector_runs.load(_RUN.value), inputs), inputs)
  alone = np.median(seconds["backbone alone"])
  print("| part | median ms | to the backbone alone |\n|---|---|---|")
  for name, values in seconds.items():
    print(f"| {name} | {1000 * np.median(values):.1f} | {np.median(values) / alone:.2f} |")
  if _EXTRACT.value:
    print("\n| processes | pictures a second | to one process |\n|---|---|---|")
    for workers, rate in rates.items():
      print(f"| {workers} | {rate:.1f} | {rate / rates[1]:.2f} |")


if __name__ == "__main__":
  errors.run(main)
