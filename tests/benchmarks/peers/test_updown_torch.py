import numpy as np
import pytest


def test_the_pytorch_steps_run():
  pytest.importorskip("torch", reason="PyTorch is not installed; the benchmark runs without it")
  from benchmarks.peers import updown_torch

  programs = updown_torch.Programs(v=20, f=6, e=4, h=4, a=4)
  rng = np.random.default_rng(0)
  fc, att = (rng.normal(size=s).astype(np.float32) for s in ((2, 6), (2, 3, 6)))
  tokens = rng.integers(1, 20, (4, 5))
  assert programs.train(fc, att, tokens, np.ones((4, 5), bool)) > 0
  assert len(programs.greedy(fc, att)) == len(programs.beam(fc, att)) == 2
