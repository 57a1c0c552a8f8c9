"""Tests of gcap_tf/training/reward_curves.py."""

import json

from gcap_tf.training import reward_curves


def test_every_other_step_is_logged_and_the_legend_is_written(tmp_path):
  curves = reward_curves.RewardCurves(tmp_path, every=2)
  for step in range(4):
    curves.record(step, {"reward_sample": step / 10})
  lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").open()]
  assert lines == [{"step": 2, "reward_sample": 0.1}, {"step": 4, "reward_sample": 0.3}]
  assert "starts NEGATIVE" in (tmp_path / "rewards.md").read_text()
  events = list((tmp_path / "tensorboard" / "rewards").iterdir())
  assert len(events) == 1
  content = events[0].read_bytes()
  assert b"reward_sample" in content and b"starts NEGATIVE" in content
