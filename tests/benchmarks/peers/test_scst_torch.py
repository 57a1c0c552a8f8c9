import numpy as np
import pytest


def test_the_pytorch_step_runs():
  pytest.importorskip("torch", reason="PyTorch is not installed; the benchmark runs without it")
  from benchmarks.peers import scst_torch

  program = scst_torch.Program(v=20, f=6, e=4, h=4, a=4)
  rng = np.random.default_rng(0)
  fc, att = (rng.normal(size=s).astype(np.float32) for s in ((2, 6), (2, 3, 6)))
  loss = program.scst(fc, att, lambda drawn, best: np.linspace(-1, 1, len(drawn)), samples=3)
  assert np.isfinite(loss) and loss != 0
