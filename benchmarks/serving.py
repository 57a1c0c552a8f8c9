"""Speed of serving: the embedded server beside one that runs every request by itself.

    python -m benchmarks.serving [--seconds=10 --out=serving.json --plot=latency.svg]

The model is an Up-Down captioner of published size (512 units, 36 regions of 2,048
features, 9,000 words, captions of up to 20) with drawn weights; requests carry one
picture. Both servers run in this process with the same loaded version; the naive one is
the same code with batches of one request. Clients are another process on the same cores.

- requests a second and latency by concurrency (clients that ask again at once)
- latency at 70 % of the peak, requests arriving at random moments
- cold start: from starting the server's command to its first answer
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

from benchmarks import serving_load, serving_model, serving_plot
from export import warmup_requests
from gcap_tf import errors, files
from serving import batching, embedded, versions

_SECONDS = flags.DEFINE_float("seconds", 10.0, "Length of one measurement.", 0.1)
_CONCURRENCY = flags.DEFINE_list(
  "concurrency", ["1", "2", "4", "8", "16", "32", "64"], "Requests under way at once."
)
_SIGNATURES = flags.DEFINE_list("signatures", ["greedy"], "What to ask for: greedy, beam.")
_LOAD = flags.DEFINE_float("load", 0.7, "Share of the peak for the steady measurement.", 0.01, 1.0)
_HIDDEN = flags.DEFINE_integer("hidden", 512, "Units of the captioner.", 1)
_FEATURES = flags.DEFINE_integer("features", 2048, "Size of a region's feature.", 1)
_WORDS = flags.DEFINE_integer("words", 9000, "Words of the vocabulary.", 3)
_OUT = flags.DEFINE_string("out", None, "Writes the figures here as JSON.")
_PLOT = flags.DEFINE_string("plot", None, "Draws latency by concurrency here, as SVG.")

# Every request is a session call of its own, as many at once as there are clients.
NAIVE = batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0, num_batch_threads=64)


def measure(base: pathlib.Path, config: batching.BatchingConfig, features: int) -> list[dict]:
  """Every signature at every concurrency on one server."""
  rows = []
  specs = serving_model.specs(features)
  with server_of(base, config) as server:
    for signature in _SIGNATURES.value:
      raw = serving_load.request(specs, "captioner", signature, warmup_requests.REGIONS)
      for concurrency in map(int, _CONCURRENCY.value):
        outcome = serving_load.run(server.address, raw, concurrency, _SECONDS.value)
        rows.append({"signature": signature, "concurrency": concurrency, **summary(outcome)})
        print(json.dumps(rows[-1]), flush=True)
  return rows


def steady(base: pathlib.Path, features: int, signature: str, rate: float) -> dict:
  """Latency at a fixed rate of requests that arrive at random moments."""
  raw = serving_load.request(
    serving_model.specs(features), "captioner", signature, warmup_requests.REGIONS
  )
  with server_of(base, batching.BatchingConfig()) as server:
    serving_load.run(server.address, raw, 8, min(2.0, _SECONDS.value))
    outcome = serving_load.run_at(server.address, raw, rate, 2 * _SECONDS.value)
  figures = {"signature": signature, "offered_per_second": round(rate, 1), **summary(outcome)}
  figures["p99_over_p50"] = round(outcome.percentile(99) / outcome.percentile(50), 2)
  return figures


def server_of(base: pathlib.Path, config: batching.BatchingConfig) -> embedded.Server:
  model = versions.ModelConfig("captioner", base)
  return embedded.Server(embedded.ServerConfig(models=(model,), batching=config))


def summary(outcome: serving_load.Outcome) -> dict:
  return {
    "requests_per_second": round(outcome.rate, 1),
    "p50_ms": round(outcome.percentile(50), 1),
    "p99_ms": round(outcome.percentile(99), 1),
    "failed": sum(n for code, n in outcome.codes.items() if code != "OK"),
  }


def cold_start(base: pathlib.Path, features: int) -> float:
  """Seconds from starting the server's command to its first answer."""
  raw = serving_load.request(
    serving_model.specs(features), "captioner", "greedy", warmup_requests.REGIONS
  )
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
      "--rest_port=-1",
    ],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  try:
    options = [("grpc.max_reconnect_backoff_ms", 50), ("grpc.initial_reconnect_backoff_ms", 50)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options) as channel:
      predict = channel.unary_unary(serving_load.METHOD)
      predict(raw, timeout=120, wait_for_ready=True)
    return time.monotonic() - started
  finally:
    process.terminate()
    process.wait()


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


def curves(naive: list[dict], batched: list[dict]) -> list[serving_plot.Line]:
  """Median and 99th percentile of both servers, for the first signature."""
  lines = []
  for name, rows, color in (("one by one", naive, "#c93a0a"), ("batched", batched, "#00759f")):
    rows = [row for row in rows if row["signature"] == rows[0]["signature"]]
    for key, dashed in (("p50_ms", False), ("p99_ms", True)):
      points = tuple((row["concurrency"], row[key]) for row in rows)
      lines.append(serving_plot.Line(f"{name}, {key[:3]}", points, color, dashed))
  return lines


def main(argv: list[str]) -> None:
  del argv
  with tempfile.TemporaryDirectory() as folder:
    base = serving_model.export(pathlib.Path(folder), _HIDDEN.value, _FEATURES.value, _WORDS.value)
    figures = {
      "cold_start_seconds": round(cold_start(base, _FEATURES.value), 2),
      "naive": measure(base, NAIVE, _FEATURES.value),
      "batched": measure(base, batching.BatchingConfig(), _FEATURES.value),
    }
    figures["steady"] = []
    for signature in _SIGNATURES.value:
      rows = [row for row in figures["batched"] if row["signature"] == signature]
      peak = max(row["requests_per_second"] for row in rows)
      figures["steady"].append(steady(base, _FEATURES.value, signature, _LOAD.value * peak))
  print(table(figures["naive"], figures["batched"]))
  print(f"at {_LOAD.value:.0%} of the peak: {figures['steady']}")
  print(f"cold start {figures['cold_start_seconds']} s")
  if _OUT.value:
    files.write_json(_OUT.value, figures)
  if _PLOT.value:
    files.write_text(_PLOT.value, serving_plot.draw(curves(figures["naive"], figures["batched"])))
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
