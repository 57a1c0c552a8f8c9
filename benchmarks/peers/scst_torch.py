"""The self-critical step of the released PyTorch programs, restated for timing.

It copies the features per sample, decodes a greedy caption without gradients (POS-SCAN's
program for every copy, later programs once per picture), samples one word per Python step with
all steps kept for the gradient, computes rewards in Python, clamps gradients and applies Adam.
It needs torch.
"""

from collections.abc import Callable

import numpy as np
import torch

from benchmarks.peers import updown_torch


class Program(updown_torch.Programs):
  """One training step; `end_bias` is the bias of the end token, as in the library's model."""

  def __init__(self, v: int, f: int, e: int, h: int, a: int, end_bias: float = 0.0):
    super().__init__(v, f, e, h, a)
    with torch.no_grad():
      self.model.out.bias[0] = end_bias

  def scst(
    self,
    fc: np.ndarray,
    att: np.ndarray,
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
    samples: int = 5,
    max_length: int = 20,
    greedy_copies: int = 1,
  ) -> float:
    """Applies one update; `score` maps samples and greedy captions to advantages [B]."""
    best = self.greedy(*(x.repeat(greedy_copies, 0) for x in (fc, att)), max_length)
    self.model.train()
    self.adam.zero_grad()
    fc, att = (torch.from_numpy(x).repeat_interleave(samples, 0) for x in (fc, att))
    memory, state = self.model.encode(fc, att), self.model.start(len(fc))
    token, alive = torch.zeros(len(fc), dtype=torch.long), torch.ones(len(fc), dtype=torch.bool)
    words = torch.zeros(len(fc), max_length, dtype=torch.long)
    log_probs, mask = torch.zeros(len(fc), max_length), torch.zeros(len(fc), max_length)
    for t in range(max_length):
      distribution, state = self.model.step(memory, token, state)
      drawn = torch.distributions.Categorical(logits=distribution.detach()).sample()
      mask[:, t] = alive
      token = drawn * alive
      log_probs[:, t] = distribution.gather(1, drawn.unsqueeze(1)).squeeze(1)
      words[:, t] = token
      alive = alive & (token > 0)
      if not alive.any():
        break
    advantages = torch.from_numpy(score(words.numpy(), best.numpy())).float().unsqueeze(1)
    loss = -(log_probs * advantages * mask).sum() / mask.sum()
    loss.backward()
    torch.nn.utils.clip_grad_value_(self.model.parameters(), 0.1)
    self.adam.step()
    return float(loss)
