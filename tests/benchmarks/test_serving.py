# bazel: data = ["//benchmarks:serving_faults"]

import subprocess
import sys

import numpy as np
import pytest

from benchmarks import serving
from benchmarks.load import bursts, drawn_model
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
  outcome = bursts.Outcome(2.0, np.array([0.1, 0.2, 0.3]), {"OK": 3})
  assert outcome.rate == 1.5
  assert outcome.percentile(50) == pytest.approx(200)
  assert np.isnan(bursts.Outcome(1.0, np.array([]), {}).percentile(50))


def test_load_reaches_a_real_server(tmp_path):
  base = drawn_model.export(tmp_path, hidden=8, features=4, words=10)
  raw = bursts.request(drawn_model.specs(4), "captioner", "beam", 3)
  config = embedded.ServerConfig(models=(versions.ModelConfig("captioner", base),))
  with embedded.Server(config) as server:
    outcome = bursts.run(server.address, raw, 2, 0.3)
    counted = bursts.run(server.address, raw, 2, requests=7)
    paced = bursts.run_at(server.address, raw, rate=40, seconds=0.5)
  assert set(outcome.codes) == {"OK"}
  assert len(outcome.latencies) == outcome.codes["OK"] > 1
  assert counted.codes == {"OK": 7}
  assert paced.codes == {"OK": 20}
  assert paced.latencies.min() > 0


def test_curves_are_those_of_the_first_signature():
  rows = [row(20.0), row(30.0, concurrency=16), row(1.0, signature="beam")]
  lines = serving.curves(rows, rows)
  assert [line.name for line in lines] == [
    "one by one, p50",
    "one by one, p99",
    "batched, p50",
    "batched, p99",
  ]
  assert lines[1].points == ((8, 2.0), (16, 2.0))
  assert lines[1].dashed


def test_command_explains_its_flags():
  done = subprocess.run(
    [sys.executable, "-m", "benchmarks.serving_faults", "--help"], capture_output=True, text=True
  )
  assert "--fuzz_bytes" in done.stdout, done.stderr
