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

import keras
from absl import flags

from benchmarks import serving_load
from export import captioner_module, region_inputs, saved_model, warm_up
from gcap_tf import errors, files
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import runs
from serving import batching, embedded, versions

_SECONDS = flags.DEFINE_float("seconds", 10.0, "Length of one measurement.", 0.1)
_CONCURRENCY = flags.DEFINE_list("concurrency", ["1", "8", "32"], "Requests under way at once.")
_SIGNATURES = flags.DEFINE_list("signatures", ["greedy", "beam"], "What to ask for.")
_HIDDEN = flags.DEFINE_integer("hidden", 512, "Units of the captioner.", 1)
_FEATURES = flags.DEFINE_integer("features", 2048, "Size of a region's feature.", 1)
_WORDS = flags.DEFINE_integer("words", 9000, "Words of the vocabulary.", 3)
_OUT = flags.DEFINE_string("out", None, "Writes the figures here as JSON.")

NAIVE = batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0)


def make_model(folder: pathlib.Path, hidden: int, features: int, words: int) -> pathlib.Path:
  """Exports a captioner with drawn weights; returns its base path."""
  keras.utils.set_random_seed(0)
  vocabulary = vocabularies.Vocabulary(
    "captioner", ("", *(f"word{i}" for i in range(words - 2)), "UNK")
  )
  config = {
    "vocabulary_size": words,
    "feature_size": features,
    "embedding_size": hidden,
    "hidden_size": hidden,
    "attention_size": hidden,
  }
  model = runs.make_model("captioner", "updown", config)
  module = captioner_module.CaptionerModule(model, vocabulary, [False] * words)
  version = folder / "captioner" / "1"
  signatures = module.signatures()
  saved_model.save(module, str(version), signatures)
  warm_up.write(version, "captioner", saved_model.warm_up_requests(module, signatures))
  return version.parent


def measure(base: pathlib.Path, config: batching.BatchingConfig, features: int) -> list[dict]:
  """Every signature at every concurrency on one server."""
  rows = []
  specs = captioner_specs(features)
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


def captioner_specs(features: int) -> dict:
  return region_inputs.RegionInputs(features, labelled=False).specs()


def cold_start(base: pathlib.Path, features: int) -> float:
  """Seconds from starting a server in this process to its first answer."""
  raw = serving_load.request(captioner_specs(features), "captioner", "greedy", warm_up.REGIONS)
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
    base = make_model(pathlib.Path(folder), _HIDDEN.value, _FEATURES.value, _WORDS.value)
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
