# bazel: data = ["//benchmarks:serving_faults"]

import subprocess
import sys

import numpy as np
import pytest

from benchmarks import serving, serving_load, serving_model
from serving import embedded, versions


def row(rate, **more):
  return {
    "signature": "greedy",
    "concurrency": 8,
    "requests_per_second": rate,
    "p50_ms": 1.0,
    "p99_ms": 2.0,
    **more,
  }


def test_table_sets_batched_beside_naive():
  lines = serving.table([row(20.0)], [row(50.0)]).splitlines()
  assert lines[-1] == "| greedy | 8 | 20.0 | 1.0 | 2.0 | 50.0 | 1.0 | 2.0 | 2.5x |"


def test_outcome_gives_rate_and_percentiles():
  outcome = serving_load.Outcome(2.0, np.array([0.1, 0.2, 0.3]), {"OK": 3})
  assert outcome.rate == 1.5
  assert outcome.percentile(50) == pytest.approx(200)
  assert np.isnan(serving_load.Outcome(1.0, np.array([]), {}).percentile(50))


def test_load_reaches_a_real_server(tmp_path):
  base = serving_model.export(tmp_path, hidden=8, features=4, words=10)
  raw = serving_load.request(serving_model.specs(4), "captioner", "beam", 3)
  config = embedded.ServerConfig(models=(versions.ModelConfig("captioner", base),))
  with embedded.Server(config) as server:
    outcome = serving_load.run(server.address, raw, 2, 0.3)
  assert set(outcome.codes) == {"OK"}
  assert len(outcome.latencies) == outcome.codes["OK"] > 1


@pytest.mark.parametrize("name", ["serving", "serving_faults"])
def test_command_explains_its_flags(name):
  done = subprocess.run(
    [sys.executable, "-m", f"benchmarks.{name}", "--help"], capture_output=True, text=True
  )
  assert "--seconds" in done.stdout, done.stderr
