"""The benchmark of the matchers runs and reports what it promises."""

import json
import subprocess
import sys


def run(*flags):
  return subprocess.run(
    [sys.executable, "-m", "benchmarks.matchers", "--quick", "--repetitions=1", *flags],
    capture_output=True,
    text=True,
    check=False,
  )


def test_a_case_reports_both_ways_and_the_share_of_the_peak(tmp_path):
  done = run("--cases=scan_eval,memory", f"--out={tmp_path / 'out.json'}")
  assert done.returncode == 0, done.stderr
  results = json.loads(done.stdout.splitlines()[-1])
  assert results == json.loads((tmp_path / "out.json").read_text())
  case = results["scan_eval"]
  rates = case["pairs_per_second"] / case["plain_pairs_per_second"]
  assert abs(case["ratio"] - rates) < 1e-6 * rates
  assert case["gemm_fraction"] > 0
  assert 0 < results["memory"]["peak_gib"] < 2


def test_an_unknown_case_lists_the_known():
  done = run("--cases=scan_evl")
  assert done.returncode == 1
  assert 'unknown case "scan_evl"; known: scan_train' in done.stderr
