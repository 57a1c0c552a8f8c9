"""The training step of captioners of videos in plain PyTorch, for timing and goldens; needs torch.

Formulas, sizes and order of work are those of GVD's and Cyclical's released programs: a GRU over
480 slots, every slot and every region in each step, one Python step a word, twenty words, the
norm of the gradient clipped at 0.1, Adam. Names of weights are the released ones.
"""

import torch
from torch import nn
from torch.nn import functional as F


def layer_norm(x):
  return F.layer_norm(x, x.shape[-1:])


class Attention(nn.Module):
  """w tanh(key + W h + b), a softmax over all slots that `mask` leaves."""

  def __init__(self, h, a):
    super().__init__()
    self.h2att, self.alpha_net = nn.Linear(h, a), nn.Linear(a, 1)

  def forward(self, hidden, values, keys, mask=None):
    query = self.h2att(hidden).unsqueeze(1).expand_as(keys)
    z = self.alpha_net(torch.tanh(keys + query)).squeeze(2)
    if mask is not None:
      z = z.masked_fill(~mask, -1e8)
    return torch.bmm(z.softmax(1).unsqueeze(1), values).squeeze(1), z


class VideoCaptioner(nn.Module):
  """GVD for videos without self-attention; with `cycle`, Cyclical's decoder and localiser."""

  def __init__(
    self, *, v, c, d=2048, e=512, h=1024, a=512, parts=(2048, 1024), place=300, position=50,
    cycle=False, dropout=0.5,
  ):  # fmt: skip
    super().__init__()
    self.h, self.cycle, self.parts = h, cycle, list(parts)
    self.ctx2pool_grd, self.vis_embed = nn.Linear(d, d), nn.Embedding(c + 1, d)
    self.vis_classifiers_bias = nn.Parameter(torch.zeros(c + 1))
    self.loc_fc, self.pool_embed = nn.Linear(5, place), nn.Linear(d + place + c + 1, h)
    self.seg_info_embed = nn.Linear(4, position)
    self.fc_embed = nn.Linear(sum(parts) + position, h)
    self.att_embed = nn.ModuleList([nn.Linear(size, h // 2) for size in parts])
    self.att_embed_aux = nn.BatchNorm1d(h)
    self.context_enc = nn.GRU(h, h // 2, 2, batch_first=True, bidirectional=True, dropout=0.2)
    self.ctx2att, self.ctx2pool = nn.Linear(h, a), nn.Linear(h, a)
    self.embed, self.logit = nn.Embedding(v, e), nn.Linear(h, v)
    self.att_lstm = nn.LSTMCell((2 if cycle else 1) * h + e, h)
    self.lang_lstm = nn.LSTMCell(2 * h, h)
    self.attention, self.drop = Attention(h, a), nn.Dropout(dropout)
    self.attention2 = self.attention if cycle else Attention(h, a)
    if cycle:
      self.localizer = nn.Linear(e, a)

  def rectified(self, layer, x):
    return self.drop(F.relu(layer(x)))

  def encode(self, batch):
    """Regions R [B, N, H] and frames u [B, S, H] with their keys, and v_g [B, H]."""
    g = self.rectified(self.ctx2pool_grd, batch["features"])
    classes = self.drop(F.relu(self.vis_embed.weight))
    logits = g @ classes.t() + self.vis_classifiers_bias
    logits = logits.masked_fill(~batch["region_mask"].unsqueeze(2), -1e8)
    place = torch.cat([batch["boxes"], batch["frame"].unsqueeze(2) / 10], 2)
    l = self.rectified(self.loc_fc, place)
    parts = [layer_norm(g), layer_norm(l), layer_norm(logits.softmax(2))]
    regions = self.rectified(self.pool_embed, torch.cat(parts, 2))
    mean, position = batch["mean"], self.rectified(self.seg_info_embed, batch["position"])
    whole = torch.cat([layer_norm(mean), layer_norm(position)], 1)
    split = torch.split(batch["frames"], self.parts, 2)
    x = torch.cat([self.rectified(layer, p) for layer, p in zip(self.att_embed, split)], 2)  # noqa: B905
    x = F.relu(self.att_embed_aux(x.reshape(-1, self.h)).view_as(x))
    u = self.context_enc(x)[0] * batch["in_segment"].unsqueeze(2)
    keys = self.ctx2pool(regions), self.ctx2att(u)
    return self.rectified(self.fc_embed, whole), regions, u, *keys

  def words(self, whole, tokens, look, inputs=None):
    """Log-probabilities [B, T, V]; look(t, h1) gives the context of word t."""
    h1, c1, h2, c2 = (whole.new_zeros(len(tokens), self.h) for _ in range(4))
    before, found = torch.zeros_like(tokens[:, 0]), []
    for t in range(tokens.shape[1]):
      x = self.rectified(self.embed, before)
      parts = [h2, whole, x] if self.cycle else [whole, x]
      h1, c1 = self.att_lstm(torch.cat(parts, 1), (h1, c1))
      h2, c2 = self.lang_lstm(torch.cat([look(t, h1), h1], 1), (h2, c2))
      found.append(torch.log_softmax(self.logit(self.drop(h2)), 1))
      before = tokens[:, t]
    return torch.stack(found, 1)

  def decode(self, memory, tokens, region_mask):
    """Log-probabilities of teacher forcing, and the scores z of the regions [B, T, N]."""
    whole, regions, u, keys, frame_keys = memory
    scores = []

    def look(_, h1):
      of_frames, _ = self.attention(h1, u, frame_keys)
      of_regions, z = self.attention2(h1, regions, keys, region_mask)
      scores.append(z)
      return of_frames + of_regions

    return self.words(whole, tokens, look), torch.stack(scores, 1)

  def reconstruct(self, memory, tokens, said):
    """Log-probabilities of the tokens from the regions and frames that the said words find."""
    whole, regions, u, keys, frame_keys = memory
    query = self.localizer(self.rectified(self.embed, said))  # [B, T, A]
    contexts = torch.softmax(query @ keys.transpose(1, 2), 2) @ regions
    contexts = contexts + torch.softmax(query @ frame_keys.transpose(1, 2), 2) @ u
    return self.words(whole, tokens, lambda t, _: contexts[:, t])


class Program:
  """A training step to time."""

  def __init__(self, **sizes):
    torch.manual_seed(0)
    self.model = VideoCaptioner(**sizes)
    self.adam = torch.optim.Adam(self.model.parameters(), lr=1e-4, eps=1e-8)

  def train(self, batch):
    """One step; `batch` holds NumPy arrays by the names that `encode` reads."""
    batch = {name: torch.from_numpy(array) for name, array in batch.items()}
    tokens, mask, model = batch["tokens"].long(), batch["token_mask"].float(), self.model

    def cross_entropy(log_probs):
      picked = log_probs.gather(2, tokens.unsqueeze(2)).squeeze(2)
      return -(picked * mask).sum() / mask.sum()

    model.train()
    self.adam.zero_grad()
    memory = model.encode(batch)
    log_probs, _ = model.decode(memory, tokens, batch["region_mask"])
    loss = cross_entropy(log_probs)
    if model.cycle:
      said = log_probs.argmax(2)
      loss = 0.5 * loss + 0.5 * cross_entropy(model.reconstruct(memory, tokens, said))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    self.adam.step()
    return float(loss.detach())
