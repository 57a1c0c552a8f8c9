"""Measures a photograph from bytes to caption: through the server, and against the backbone alone.

    python -m benchmarks.photographs --pictures=DIR [--run=RUN] [--seconds=10 --out=figures.json]

- p50 of one caller, with the backbone alone (its canvas is ready) timed by turns in the same
  process, so that a busy machine slows both alike: their ratio is what counts
- pictures a second by callers at once; callers run in another process and send their next request
  when they have an answer

The run is exported first; without --run it is the shipped captioner of photographs.
"""

import json
import pathlib
import tempfile
from collections.abc import Callable, Sequence

import grpc
import numpy as np
import tensorflow as tf
from absl import flags
from tensorflow_serving.apis import predict_pb2

from benchmarks import serving as serving_benchmark
from benchmarks import turns
from benchmarks.load import bursts
from export import photograph_module, saved_model
from gcap_tf import errors, files
from gcap_tf.runs import photograph_runs, run_folders
from gcap_tf.vision import canvas, pictures
from serving import batching

FLAGS = flags.FLAGS
MODEL = "captioner"


def _define_flags() -> None:
  flags.DEFINE_string("pictures", None, "Folder of photographs.", required=True)
  flags.DEFINE_string("run", "shipped", "Run folder of a captioner of photographs.")
  flags.DEFINE_string("detector", "", "Detector, in place of the run's own.")
  flags.DEFINE_integer("count", 40, "Photographs that are timed.", 1)
  flags.DEFINE_list("concurrency", ["1", "4", "16"], "Numbers of callers at once.")
  flags.DEFINE_float("seconds", 10.0, "Length of one measurement of throughput.", 0.1)
  flags.DEFINE_bool("float16_weights", True, "Whether the export has half-precision weights.")
  flags.DEFINE_string("out", None, "File for the results as JSON.")


def request(data: bytes) -> bytes:
  """A serialised request with one picture file."""
  message = predict_pb2.PredictRequest()
  message.model_spec.name = MODEL
  message.model_spec.signature_name = photograph_module.GREEDY
  message.inputs[photograph_module.IMAGE_BYTES].CopyFrom(tf.make_tensor_proto([data]))
  return message.SerializeToString()


def latencies(
  photographs: photograph_runs.PhotographRun, address: str, inputs: Sequence[bytes]
) -> dict[str, list[float]]:
  """Seconds of each photograph: the backbone alone, and the whole way through the server."""
  detector = photographs.detector.detector
  backbone = tf.function(detector.backbone.__call__)
  size = detector.config.size
  ready = {data: canvas.place(pictures.decode(data), size)[0][None] for data in inputs}
  with grpc.insecure_channel(address) as channel:
    predict: Callable[..., bytes] = channel.unary_unary(bursts.METHOD)

    def served(data: bytes) -> tuple[()]:
      predict(request(data), timeout=60)
      return ()

    functions = {"backbone": lambda data: backbone(ready[data]), "served": served}
    return turns.by_turns(functions, inputs)


def measure(
  base: pathlib.Path, photographs: photograph_runs.PhotographRun, inputs: Sequence[bytes]
) -> dict:
  """p50 of both, their ratio, and pictures a second by callers."""
  with serving_benchmark.server_of(base, batching.BatchingConfig()) as server:
    seconds = latencies(photographs, server.address, inputs)
    rates = {}
    for callers in map(int, FLAGS.concurrency):
      outcome = bursts.run(server.address, request(inputs[0]), callers, FLAGS.seconds)
      rates[callers] = serving_benchmark.summary(outcome)
      print(json.dumps({"callers": callers, **rates[callers]}), flush=True)
  p50 = {name: 1000 * float(np.median(values)) for name, values in seconds.items()}
  first = rates[min(rates)]["requests_per_second"]
  return {
    "backbone_ms": round(p50["backbone"], 1),
    "served_ms": round(p50["served"], 1),
    "to_the_backbone": round(p50["served"] / p50["backbone"], 2),
    "callers": rates,
    "gain": round(max(row["requests_per_second"] for row in rates.values()) / first, 2),
  }


def main(argv: list[str]) -> None:
  del argv
  found = list(pictures.find(FLAGS.pictures).values())[: FLAGS.count]
  inputs = [path.read_bytes() for path in found]
  run = run_folders.load(FLAGS.run, "captioner")
  photographs = photograph_runs.load(run, FLAGS.detector)
  config = saved_model.ExportConfig(
    float16_weights=FLAGS.float16_weights,
    detector=FLAGS.detector or str(photographs.detector.folder),
  )
  with tempfile.TemporaryDirectory() as folder:
    saved_model.export(run, folder, config)
    figures = measure(pathlib.Path(folder), photographs, inputs)
  if FLAGS.out:
    files.write_json(FLAGS.out, figures)
  print(json.dumps(figures))


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
