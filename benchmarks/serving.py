"""Speed of the embedded server, compared with a server that does not batch requests.

    python -m benchmarks.serving [--seconds=10 --out=serving.json --plot=latency.svg]

The model is an Up-Down captioner of published size (512 units, 36 regions of 2,048
features, 9,000 words, captions of up to 20) with random weights; each request has one
picture. Both servers run in this process with the same loaded version; the naive one is
the same code with batches of one request. The clients run in another process on the same
cores.

- requests per second and latency by concurrency (clients that send their next request at once)
- latency at 70 % of the peak, with requests at random moments
- cold start: from the start of the server's command to its first answer
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import grpc
from absl import flags

from benchmarks.load import bursts, drawn_model, latency_plot
from export import warmup_requests
from gcap_tf import errors, files
from serving import batching, embedded, versions

FLAGS = flags.FLAGS
# Every request is a separate session call, as many at once as there are clients.
NAIVE = batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0, num_batch_threads=64)


def _define_flags() -> None:
  flags.DEFINE_float("seconds", 10.0, "Length of one measurement.", 0.1)
  flags.DEFINE_list(
    "concurrency", ["1", "2", "4", "8", "16", "32", "64"], "Numbers of requests at once."
  )
  flags.DEFINE_list("signatures", ["greedy"], "Signatures to call: greedy, beam.")
  flags.DEFINE_float("load", 0.7, "Share of the peak for the steady measurement.", 0.01, 1.0)
  flags.DEFINE_integer("hidden", 512, "Units of the captioner.", 1)
  flags.DEFINE_integer("features", 2048, "Size of a region's feature.", 1)
  flags.DEFINE_integer("words", 9000, "Words of the vocabulary.", 3)
  flags.DEFINE_string("out", None, "File for the results as JSON.")
  flags.DEFINE_string("plot", None, "File for a plot of latency by concurrency, as SVG.")


def measure(base: pathlib.Path, config: batching.BatchingConfig, features: int) -> list[dict]:
  """Measures every signature at every concurrency on one server."""
  rows = []
  with server_of(base, config) as server:
    embedded.freeze_objects()  # as the server's command does
    for signature in FLAGS.signatures:
      raw = _request(features, signature)
      for concurrency in map(int, FLAGS.concurrency):
        outcome = bursts.run(server.address, raw, concurrency, FLAGS.seconds)
        rows.append({"signature": signature, "concurrency": concurrency, **summary(outcome)})
        print(json.dumps(rows[-1]), flush=True)
  return rows


def steady(base: pathlib.Path, features: int, signature: str, rate: float) -> dict:
  """Measures latency at a fixed rate of requests at random moments."""
  raw = _request(features, signature)
  with server_of(base, batching.BatchingConfig()) as server:
    embedded.freeze_objects()  # as the server's command does
    bursts.run(server.address, raw, 8, min(2.0, FLAGS.seconds))
    outcome = bursts.run_at(server.address, raw, rate, 2 * FLAGS.seconds)
  figures = {"signature": signature, "offered_per_second": round(rate, 1), **summary(outcome)}
  figures["p99_over_p50"] = round(outcome.percentile(99) / outcome.percentile(50), 2)
  return figures


def server_of(base: pathlib.Path, config: batching.BatchingConfig) -> embedded.Server:
  model = versions.ModelConfig("captioner", base)
  return embedded.Server(embedded.ServerConfig(models=(model,), batching=config))


def summary(outcome: bursts.Outcome) -> dict:
  return {
    "requests_per_second": round(outcome.rate, 1),
    "p50_ms": round(outcome.percentile(50), 1),
    "p99_ms": round(outcome.percentile(99), 1),
    "failed": sum(n for code, n in outcome.codes.items() if code != "OK"),
  }


def cold_start(base: pathlib.Path, features: int) -> float:
  """Returns the seconds from the start of the server's command to its first answer."""
  raw = _request(features, "greedy")
  with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
  started = time.monotonic()
  process = subprocess.Popen(
    [
      sys.executable,
      "-m",
      "serving.server",
      f"--model_base_path={base}",
      f"--port={port}",
      "--rest_api_port=-1",
    ],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  try:
    options = [("grpc.max_reconnect_backoff_ms", 50), ("grpc.initial_reconnect_backoff_ms", 50)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options) as channel:
      predict = channel.unary_unary(bursts.METHOD)
      predict(raw, timeout=120, wait_for_ready=True)
    return time.monotonic() - started
  finally:
    process.terminate()
    process.wait()


def _request(features: int, signature: str) -> bytes:
  specs = drawn_model.specs(features)
  return bursts.request(specs, "captioner", signature, warmup_requests.REGIONS)


def table(naive: list[dict], batched: list[dict]) -> str:
  lines = [
    "| signature | concurrency | naive req/s | p50 ms | p99 ms | batched req/s | p50 ms | p99 ms "
    "| ratio |",
    "|---|---|---|---|---|---|---|---|---|",
  ]
  for one, other in zip(naive, batched, strict=True):
    ratio = other["requests_per_second"] / max(one["requests_per_second"], 1e-9)
    cells = [one["signature"], one["concurrency"]]
    for row in (one, other):
      cells += [row["requests_per_second"], row["p50_ms"], row["p99_ms"]]
    lines.append("| " + " | ".join(map(str, cells)) + f" | {ratio:.1f}x |")
  return "\n".join(lines)


def curves(naive: list[dict], batched: list[dict]) -> list[latency_plot.Line]:
  """Returns the median and 99th percentile of both servers, for the first signature."""
  lines = []
  for name, rows, color in (("one by one", naive, "#c93a0a"), ("batched", batched, "#00759f")):
    rows = [row for row in rows if row["signature"] == rows[0]["signature"]]
    for key, dashed in (("p50_ms", False), ("p99_ms", True)):
      points = tuple((row["concurrency"], row[key]) for row in rows)
      lines.append(latency_plot.Line(f"{name}, {key[:3]}", points, color, dashed))
  return lines


def main(argv: list[str]) -> None:
  del argv
  with tempfile.TemporaryDirectory() as folder:
    base = drawn_model.export(pathlib.Path(folder), FLAGS.hidden, FLAGS.features, FLAGS.words)
    figures = {
      "cold_start_seconds": round(cold_start(base, FLAGS.features), 2),
      "naive": measure(base, NAIVE, FLAGS.features),
      "batched": measure(base, batching.BatchingConfig(), FLAGS.features),
    }
    figures["steady"] = []
    for signature in FLAGS.signatures:
      rows = [row for row in figures["batched"] if row["signature"] == signature]
      peak = max(row["requests_per_second"] for row in rows)
      figures["steady"].append(steady(base, FLAGS.features, signature, FLAGS.load * peak))
  print(table(figures["naive"], figures["batched"]))
  print(f"at {FLAGS.load:.0%} of the peak: {figures['steady']}")
  print(f"cold start {figures['cold_start_seconds']} s")
  if FLAGS.out:
    files.write_json(FLAGS.out, figures)
  if FLAGS.plot:
    files.write_text(FLAGS.plot, latency_plot.draw(curves(figures["naive"], figures["batched"])))
  print(json.dumps(figures))


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
