"""Up-Down and its decoders restated in NumPy float64, one number or vector at a time.

Written from the paper's equations and the released programs' behaviour, with weights under
their official names; nothing here comes from gcap_tf.
"""

import itertools
import math

import numpy as np


def make_weights(rng, v=11, e=5, h=6, a=4, f=7, use_bn=0, logit_layers=1, peaky=1.0):
  """A random state dict; `peaky` scales the output layer, so that choices are clear."""
  weights = {"embed.0.weight": rng.normal(size=(v, e))}

  def linear(name, out, inputs, scale=1.0):
    weights[f"{name}.weight"] = scale * rng.normal(size=(out, inputs)) / math.sqrt(inputs)
    weights[f"{name}.bias"] = scale * rng.normal(size=out) / 2

  def cell(name, inputs):
    for part, shape in (
      ("weight_ih", (4 * h, inputs)),
      ("weight_hh", (4 * h, h)),
      ("bias_ih", (4 * h,)),
      ("bias_hh", (4 * h,)),
    ):
      weights[f"{name}.{part}"] = rng.normal(size=shape)

  def norm(name, size):
    weights[f"{name}.weight"] = rng.uniform(0.5, 2.0, size)
    weights[f"{name}.bias"] = rng.normal(size=size)
    weights[f"{name}.running_mean"] = rng.normal(size=size)
    weights[f"{name}.running_var"] = rng.uniform(0.5, 2.0, size)
    weights[f"{name}.num_batches_tracked"] = np.array(3)

  linear("fc_embed.0", h, f)
  if use_bn:
    norm("att_embed.0", f)
  linear("att_embed.1" if use_bn else "att_embed.0", h, f)
  if use_bn == 2:
    norm("att_embed.4", h)
  linear("ctx2att", a, h, 2.0)
  cell("core.att_lstm", 2 * h + e)
  cell("core.lang_lstm", 2 * h)
  linear("core.attention.h2att", a, h, 2.0)
  linear("core.attention.alpha_net", 1, a, 4.0)
  for n in range(logit_layers - 1):
    linear(f"logit.{3 * n}", h, h)
  linear("logit" if logit_layers == 1 else f"logit.{3 * (logit_layers - 1)}", v, h, peaky)
  return weights


def make_lively_weights(rng, ending):
  """A model whose words change from step to step; `ending` favours the end of a sentence."""
  weights = make_weights(rng, h=16, e=8, peaky=10.0)
  weights["embed.0.weight"] *= 4.0
  for name in weights:
    if ".weight_" in name:
      weights[name] *= 1.5
  weights["logit.bias"][0] += ending
  weights["logit.bias"][-1] += 3.0  # The unknown word is tempting.
  return weights


def sigmoid(x):
  return 1.0 / (1.0 + np.exp(-x))


def log_softmax(x):
  shifted = x - x.max()
  return shifted - np.log(np.exp(shifted).sum())


class UpDown:
  """One picture at a time: `fc` [F] and the real regions `att` [N, F]."""

  def __init__(self, weights, fc, att, use_bn=0, logit_layers=1):
    self.w = weights
    self.logit_layers = logit_layers
    self.h = weights["fc_embed.0.weight"].shape[0]
    self.picture = np.maximum(self.linear("fc_embed.0", fc), 0)
    self.regions, self.keys = [], []
    for row in att:
      if use_bn:
        row = self.norm("att_embed.0", row)
      value = np.maximum(self.linear("att_embed.1" if use_bn else "att_embed.0", row), 0)
      if use_bn == 2:
        value = self.norm("att_embed.4", value)
      self.regions.append(value)
      self.keys.append(self.linear("ctx2att", value))

  def linear(self, name, x):
    return self.w[f"{name}.weight"] @ x + self.w[f"{name}.bias"]

  def norm(self, name, x):
    w = self.w
    centred = x - w[f"{name}.running_mean"]
    scale = w[f"{name}.weight"] / np.sqrt(w[f"{name}.running_var"] + 1e-5)
    return centred * scale + w[f"{name}.bias"]

  def cell(self, name, x, state):
    h, c = state
    w = self.w
    gates = w[f"{name}.weight_ih"] @ x + w[f"{name}.bias_ih"]
    gates = gates + w[f"{name}.weight_hh"] @ h + w[f"{name}.bias_hh"]
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c

  def start(self):
    zero = np.zeros(self.h)
    return ((zero, zero), (zero, zero))

  def step(self, token, state):
    """Log-probabilities [V+1], attention [N], the next state."""
    first, second = state
    word = np.maximum(self.w["embed.0.weight"][token], 0)
    first = self.cell("core.att_lstm", np.concatenate([second[0], self.picture, word]), first)
    query = self.linear("core.attention.h2att", first[0])
    scores = np.array(
      [self.linear("core.attention.alpha_net", np.tanh(key + query))[0] for key in self.keys]
    )
    attention = np.exp(log_softmax(scores))
    context = sum(b * v for b, v in zip(attention, self.regions, strict=True))
    second = self.cell("core.lang_lstm", np.concatenate([context, first[0]]), second)
    hidden = second[0]
    for n in range(self.logit_layers - 1):
      hidden = np.maximum(self.linear(f"logit.{3 * n}", hidden), 0)
    last = "logit" if self.logit_layers == 1 else f"logit.{3 * (self.logit_layers - 1)}"
    return log_softmax(self.linear(last, hidden)), attention, (first, second)

  def teacher_force(self, tokens):
    """Log-probabilities [T, V+1] and attention [T, N] of the words `tokens`."""
    state, before, rows = self.start(), 0, []
    for token in tokens:
      log_probs, attention, state = self.step(before, state)
      rows.append((log_probs, attention))
      before = token
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


def greedy(model, max_length=20):
  """Tokens (up to the end) and the attention of each, with the closest race seen."""
  state, token, tokens, attentions, margin = model.start(), 0, [], [], math.inf
  for _ in range(max_length):
    log_probs, attention, state = model.step(token, state)
    ranked = np.sort(log_probs)[::-1]
    margin = min(margin, ranked[0] - ranked[1])
    token = int(np.argmax(log_probs))
    if token == 0:
      break
    tokens.append(token)
    attentions.append(attention)
  return tokens, attentions, margin


def penalised(kind, alpha, length, total):
  if kind == "wu":
    return total / (((5 + length) ** alpha) / (6**alpha))
  return total / length if kind == "average" else total


def beam_search(
  model,
  beam_size,
  max_length=20,
  suppress_unknown=True,
  decoding_constraint=False,
  length_penalty="none",
  alpha=0.0,
):
  """The official search of one picture, step by step in plain lists.

  Returns:
    Tokens up to the end, the attention of each, the score, and the smallest gap between
    two candidates where the order decided something.
  """
  beams = [{"tokens": [], "attention": [], "sum": 0.0, "state": model.start()}]
  done, margin = [], math.inf
  for t in range(max_length):
    rows = []
    for beam in beams:
      before = beam["tokens"][-1] if beam["tokens"] else 0
      log_probs, attention, state = model.step(before, beam["state"])
      log_probs = log_probs.copy()
      if decoding_constraint and t > 0:
        log_probs[before] = -1e9
      if suppress_unknown:
        log_probs[-1] -= 1000
      rows.append((np.argsort(-log_probs, kind="stable"), log_probs, attention, state))
    candidates = []
    for column in range(beam_size):
      for q, (order, log_probs, _, _) in enumerate(rows):
        word = int(order[column])
        candidates.append((beams[q]["sum"] + log_probs[word], q, word))
    candidates.sort(key=lambda candidate: -candidate[0])
    for better, worse in itertools.pairwise(candidates[: beam_size + 1]):
      margin = min(margin, better[0] - worse[0])
    grown = []
    for total, q, word in candidates[:beam_size]:
      _, _, attention, state = rows[q]
      beam = {
        "tokens": [*beams[q]["tokens"], word],
        "attention": [*beams[q]["attention"], attention],
        "sum": total,
        "state": state,
      }
      if word == 0 or t == max_length - 1:
        score = penalised(length_penalty, alpha, t + 1, total)
        done.append((score, beam["tokens"], beam["attention"]))
        beam["sum"] = -1000.0
      grown.append(beam)
    beams = grown
  done.sort(key=lambda entry: -entry[0])
  score, tokens, attention = done[0]
  if len(done) > 1:
    margin = min(margin, done[0][0] - done[1][0])
  if 0 in tokens:
    tokens = tokens[: tokens.index(0)]
  return tokens, attention[: len(tokens)], score, margin
