"""Speed of serving: the embedded server beside one that runs every request by itself.

    python -m benchmarks.serving [--seconds=10 --concurrency=1,8,32 --out=serving.json]

The model is an Up-Down captioner of published size (512 units, 36 regions of 2,048
features, 20 words) with drawn weights. Both servers run in this process with the same
loaded version; the naive one is the same code with batches of one request. Prints
requests a second, median and 99th percentile of the latency, and the cold start:
seconds from an empty server to its first answer.
"""

import json
import pathlib
import tempfile
import time

from absl import flags

from benchmarks import serving_load, serving_model
from export import warm_up
from gcap_tf import errors, files
from serving import batching, embedded, versions

_SECONDS = flags.DEFINE_float("seconds", 10.0, "Length of one measurement.", 0.1)
_CONCURRENCY = flags.DEFINE_list("concurrency", ["1", "8", "32"], "Requests under way at once.")
_SIGNATURES = flags.DEFINE_list("signatures", ["greedy", "beam"], "What to ask for.")
_HIDDEN = flags.DEFINE_integer("hidden", 512, "Units of the captioner.", 1)
_FEATURES = flags.DEFINE_integer("features", 2048, "Size of a region's feature.", 1)
_WORDS = flags.DEFINE_integer("words", 9000, "Words of the vocabulary.", 3)
_OUT = flags.DEFINE_string("out", None, "Writes the figures here as JSON.")

# Every request is a session call of its own, as many at once as there are clients.
NAIVE = batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0, num_batch_threads=32)


def measure(base: pathlib.Path, config: batching.BatchingConfig, features: int) -> list[dict]:
  """Every signature at every concurrency on one server."""
  rows = []
  specs = serving_model.specs(features)
  model = versions.ModelConfig("captioner", base)
  with embedded.Server(embedded.ServerConfig(models=(model,), batching=config)) as server:
    for signature in _SIGNATURES.value:
      raw = serving_load.request(specs, "captioner", signature, warm_up.REGIONS)
      for concurrency in map(int, _CONCURRENCY.value):
        outcome = serving_load.run(server.address, raw, concurrency, _SECONDS.value)
        rows.append(
          {
            "signature": signature,
            "concurrency": concurrency,
            "requests_per_second": round(outcome.rate, 1),
            "p50_ms": round(outcome.percentile(50), 1),
            "p99_ms": round(outcome.percentile(99), 1),
            "failed": sum(n for code, n in outcome.codes.items() if code != "OK"),
          }
        )
  return rows


def cold_start(base: pathlib.Path, features: int) -> float:
  """Seconds from starting a server in this process to its first answer."""
  raw = serving_load.request(serving_model.specs(features), "captioner", "greedy", warm_up.REGIONS)
  started = time.monotonic()
  model = versions.ModelConfig("captioner", base)
  with embedded.Server(embedded.ServerConfig(models=(model,))) as server:
    ready = time.monotonic() - started
    serving_load.run(server.address, raw, 1, 0.1)
  return ready


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


def main(argv: list[str]) -> None:
  del argv
  with tempfile.TemporaryDirectory() as folder:
    base = serving_model.export(pathlib.Path(folder), _HIDDEN.value, _FEATURES.value, _WORDS.value)
    figures = {
      "cold_start_seconds": round(cold_start(base, _FEATURES.value), 2),
      "naive": measure(base, NAIVE, _FEATURES.value),
      "batched": measure(base, batching.BatchingConfig(), _FEATURES.value),
    }
  print(table(figures["naive"], figures["batched"]))
  print(f"cold start {figures['cold_start_seconds']} s")
  if _OUT.value:
    files.write_json(_OUT.value, figures)
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
