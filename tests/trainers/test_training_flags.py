"""Tests of trainers/training_flags.py: the flags as they reach a training program."""

import json

from tests.data import make_records
from tests.trainers import command_line


def test_the_flags_of_a_run_reach_its_loop(tmp_path):
  make_records.prepare_small(tmp_path / "data", train=24)
  done = command_line.run(
    "trainers.train_captioner",
    f"--data={tmp_path / 'data'}",
    f"--run={tmp_path / 'run'}",
    "--model=neuraltalk2",
    "--images=4",
    "--epochs=1",
    "--set=options.hidden_size=8",
    "--set=options.embedding_size=8",
    "--set=min_count=1",
    "--replicas=1",
    "--deterministic",
    "--profile",
    "--on_nan=skip",
  )
  assert "best_score" in command_line.figures(done)
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert config["training"]["compute"] == {
    "replicas": 1,
    "accumulate": 1,
    "mixed_precision": False,
    "xla": False,
    "deterministic": True,
    "profile": True,
    "on_nan": "skip",
  }
  lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").open()]
  assert lines[0]["step"] == 6 and lines[0]["skipped_steps"] == 0
  assert list((tmp_path / "run").glob("tensorboard/plugins/profile/*/*.xplane.pb"))
