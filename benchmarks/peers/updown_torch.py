"""The steps of the released PyTorch Up-Down, restated for timing; needs torch.

Sizes and order of work are those of the released program: features copied per caption, one
Python step per word, element-wise gradient clamp, Adam; greedy decoding of a batch; beam
search per picture.
"""

import torch
from torch import nn


class UpDown(nn.Module):
  def __init__(self, v, f, e, h, a, dropout=0.5):
    super().__init__()
    self.h = h
    self.words = nn.Sequential(nn.Embedding(v, e), nn.ReLU(), nn.Dropout(dropout))
    self.picture = nn.Sequential(nn.Linear(f, h), nn.ReLU(), nn.Dropout(dropout))
    self.regions = nn.Sequential(nn.Linear(f, h), nn.ReLU(), nn.Dropout(dropout))
    self.keys = nn.Linear(h, a)
    self.first, self.second = nn.LSTMCell(2 * h + e, h), nn.LSTMCell(2 * h, h)
    self.query, self.score = nn.Linear(h, a), nn.Linear(a, 1)
    self.drop, self.out = nn.Dropout(dropout), nn.Linear(h, v)

  def encode(self, fc, att):
    regions = self.regions(att)
    return self.picture(fc), regions, self.keys(regions)

  def start(self, rows):
    return [torch.zeros(rows, self.h) for _ in range(4)]

  def step(self, memory, token, state):
    picture, regions, keys = memory
    h1, c1 = self.first(torch.cat([state[2], picture, self.words(token)], 1), tuple(state[:2]))
    hidden = torch.tanh(keys + self.query(h1).unsqueeze(1).expand_as(keys))
    weights = self.score(hidden.view(-1, hidden.shape[-1])).view(keys.shape[:2]).softmax(1)
    context = torch.bmm(weights.unsqueeze(1), regions).squeeze(1)
    h2, c2 = self.second(torch.cat([context, h1], 1), tuple(state[2:]))
    return torch.log_softmax(self.out(self.drop(h2)), 1), [h1, c1, h2, c2]


class Programs:
  """The three programs to time; their inputs are the NumPy arrays of a batch."""

  def __init__(self, v, f, e, h, a):
    self.model = UpDown(v, f, e, h, a)
    self.adam = torch.optim.Adam(self.model.parameters(), lr=5e-4, eps=1e-8)

  def train(self, fc, att, tokens, mask):
    copies = len(tokens) // len(fc)
    fc, att = (torch.from_numpy(x).repeat_interleave(copies, 0) for x in (fc, att))
    tokens, mask = torch.from_numpy(tokens).long(), torch.from_numpy(mask).float()
    self.model.train()
    self.adam.zero_grad()
    memory, state = self.model.encode(fc, att), self.model.start(len(tokens))
    outputs = fc.new_zeros(*tokens.shape, self.model.out.out_features)
    token = torch.zeros(len(tokens), dtype=torch.long)
    for t in range(tokens.shape[1]):
      outputs[:, t], state = self.model.step(memory, token, state)
      token = tokens[:, t]
    loss = -(outputs.gather(2, tokens.unsqueeze(2)).squeeze(2) * mask).sum() / mask.sum()
    loss.backward()
    torch.nn.utils.clip_grad_value_(self.model.parameters(), 0.1)
    self.adam.step()
    return float(loss)

  @torch.no_grad()
  def never_end(self):
    """Makes every caption as long as allowed, so that all programs do the same work."""
    self.model.out.bias[0] = -1e4

  @torch.no_grad()
  def greedy(self, fc, att, max_length=20):
    self.model.eval()
    memory = self.model.encode(torch.from_numpy(fc), torch.from_numpy(att))
    state, token = self.model.start(len(fc)), torch.zeros(len(fc), dtype=torch.long)
    alive, words = torch.ones(len(fc), dtype=torch.bool), []
    for _ in range(max_length):
      log_probs, state = self.model.step(memory, token, state)
      token = log_probs.argmax(1) * alive
      words.append(token)
      alive = alive & (token > 0)
      if not alive.any():
        break
    return torch.stack(words, 1)

  @torch.no_grad()
  def beam(self, fc, att, beams=3, max_length=20):
    self.model.eval()
    return [
      self._beam_of_one(fc[n : n + 1], att[n : n + 1], beams, max_length) for n in range(len(fc))
    ]

  def _beam_of_one(self, fc, att, beams, max_length):
    fc, att = (torch.from_numpy(x).repeat_interleave(beams, 0) for x in (fc, att))
    memory, state = self.model.encode(fc, att), self.model.start(beams)
    token = torch.zeros(beams, dtype=torch.long)
    sums, paths, done = torch.zeros(beams), [[] for _ in range(beams)], []
    for t in range(max_length):
      log_probs, state = self.model.step(memory, token, state)
      log_probs[:, -1] -= 1000
      values, order = torch.sort(log_probs, 1, True)
      offers = [
        ((sums[q] + values[q, c]).item(), q, order[q, c].item())
        for c in range(beams)
        for q in range(1 if t == 0 else beams)
      ]
      offers = sorted(offers, key=lambda offer: -offer[0])[:beams]
      paths = [[*paths[q], word] for _, q, word in offers]
      sums = torch.tensor([total for total, _, _ in offers])
      for n, (total, _, word) in enumerate(offers):
        if word == 0 or t == max_length - 1:
          done.append((total, paths[n]))
          sums[n] = -1000.0
      rows = [q for _, q, _ in offers]
      state = [x[rows] for x in state]
      token = torch.tensor([word for _, _, word in offers])
    return max(done, key=lambda entry: entry[0])[1]
