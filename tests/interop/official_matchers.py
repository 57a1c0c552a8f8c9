"""The official matchers stated again in NumPy loops (float64), on their own state dicts.

One picture, one caption, one word at a time; nothing here is shared with the library.
"""

import numpy as np


def sigmoid(x):
  return 1 / (1 + np.exp(-x))


def softmax(x):
  e = np.exp(x - x.max())
  return e / e.sum()


def l2n(x):
  return x / (np.sqrt((x**2).sum(-1, keepdims=True)) + 1e-8)


def cosine(x, y):
  return x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), 1e-8)


def run_gru(x, w, prefix, suffix):
  w_ih, w_hh = w[f"{prefix}.weight_ih_l0{suffix}"], w[f"{prefix}.weight_hh_l0{suffix}"]
  b_ih, b_hh = w[f"{prefix}.bias_ih_l0{suffix}"], w[f"{prefix}.bias_hh_l0{suffix}"]
  size = w_hh.shape[1]
  h, states = np.zeros(size), []
  for word in x:
    i, g = w_ih @ word + b_ih, w_hh @ h + b_hh
    r, z = sigmoid(i[:size] + g[:size]), sigmoid(i[size : 2 * size] + g[size : 2 * size])
    n = np.tanh(i[2 * size :] + r * g[2 * size :])
    h = (1 - z) * n + z * h
    states.append(h)
  return np.stack(states)


def words(w, options, ids, rnn="rnn"):
  x = w["txt_enc.embed.weight"][ids]
  h = run_gru(x, w, f"txt_enc.{rnn}", "")
  if f"txt_enc.{rnn}.weight_ih_l0_reverse" in w:
    h = (h + run_gru(x[::-1], w, f"txt_enc.{rnn}", "_reverse")[::-1]) / 2
  return h if options.get("no_txtnorm") else l2n(h)


def regions(w, options, features, blocks=None):
  if "img_enc.fc.weight_g" in w:
    v = w["img_enc.fc.weight_v"]
    matrix = float(w["img_enc.fc.weight_g"].reshape(())) * v / np.sqrt((v**2).sum())
  else:
    matrix = w["img_enc.fc.weight"]
  if blocks is not None:
    features = np.stack(
      [np.concatenate([f, position(w, f, b)]) for f, b in zip(features, blocks, strict=True)]
    )
  x = features @ matrix.T + w["img_enc.fc.bias"]
  return x if options.get("no_imgnorm") else l2n(x)


def position(w, feature, block):
  q = w["img_enc.fc_att.weight"] @ feature + w["img_enc.fc_att.bias"]
  p = w["img_enc.position_embedding.weight"][block[:15].astype(int)]
  u = softmax(block[15:] * softmax(np.tanh(p @ q)))
  return u @ p


def attend(queries, keys, sharpness, norm="clipped_l2norm"):
  """Attention [queries, keys]."""
  s = queries @ keys.T
  for k in range(len(keys)):
    column = s[:, k]
    if norm.startswith("clipped"):
      column = np.where(column > 0, column, 0.1 * column)
    if norm.endswith("l2norm"):
      column = column / (np.sqrt((column**2).sum()) + 1e-8)
    elif norm.endswith("l1norm"):
      column = column / (np.abs(column).sum() + 1e-8)
    elif norm == "softmax":
      column = softmax(column)
    s[:, k] = column
  return np.stack([softmax(sharpness * row) for row in s])


def aggregate(values, options):
  how = options.get("agg_func", "LogSumExp")
  if how == "LogSumExp":
    scale = options.get("lambda_lse", 6.0)
    return np.log(np.exp(scale * values).sum()) / scale
  return {"Mean": np.mean, "Sum": np.sum, "Max": np.max}[how](values)


def scan(options, v, e, nouns=None):
  """Score and word attention of SCAN and POS-SCAN (nouns: positions, or None)."""
  e = e if nouns is None or not len(nouns) else e[nouns]
  t2i = options.get("cross_attn", "t2i") == "t2i"
  queries, keys = (e, v) if t2i else (v, e)
  norm = options.get("raw_feature_norm", "clipped_l2norm")
  w = attend(queries, keys, options.get("lambda_softmax", 9.0), norm)
  relevance = np.array([cosine(q, a @ keys) for q, a in zip(queries, w, strict=True)])
  return aggregate(relevance, options), w


def pfan(options, v, e):
  score, w = scan(options, v, e)
  if options.get("cross_attn", "t2i") == "t2i":
    score += 0.5 * aggregate(w.max(1), options)
  return score, w


def bfan(options, v, e):
  total, first = 0.0, None
  for queries, keys in ((e, v), (v, e)):
    w = attend(queries, keys, options.get("lambda_softmax", 20.0))
    for row in w:
      weight = np.ones_like(row) if options.get("focal_type", "equal") == "equal" else np.sqrt(row)
      kept = np.array([((x - row) * weight).sum() > 0 for x in row])
      row[:] = np.where(kept, row, 0) / np.where(kept, row, 0).sum()
    total += np.mean([cosine(q, a @ keys) for q, a in zip(queries, w, strict=True)])
    first = w if first is None else first
  return total, first


def linear(w, key, x):
  return x @ w[f"{key}.weight"].T + w[f"{key}.bias"]


def batch_norm(w, key, x):
  scale = w[f"{key}.weight"] / np.sqrt(w[f"{key}.running_var"] + 1e-5)
  return (x - w[f"{key}.running_mean"]) * scale + w[f"{key}.bias"]


def global_vector(w, key, x, normed):
  local = linear(w, f"{key}.embedding_local.0", x)
  overall = linear(w, f"{key}.embedding_global.0", x.mean(0))
  if normed:
    local = batch_norm(w, f"{key}.embedding_local.1", local.T).T
    overall = batch_norm(w, f"{key}.embedding_global.1", overall)
  logits = linear(w, f"{key}.embedding_common.0", np.tanh(local) * np.tanh(overall))[:, 0]
  return l2n(softmax(logits) @ x)


def sgraf(w, options, v, e):
  picture = global_vector(w, "sim_enc.v_global_w", v, True)
  caption = global_vector(w, "sim_enc.t_global_w", e, False)
  attention = attend(e, v, 9.0)
  local = l2n(linear(w, "sim_enc.sim_tranloc_w", (l2n(attention @ v) - e) ** 2))
  overall = l2n(linear(w, "sim_enc.sim_tranglo_w", (picture - caption) ** 2))
  x = np.concatenate([overall[None], local])
  if options.get("module_name", "SGR") == "SGR":
    for step in range(options.get("sgr_step", 3)):
      key = f"sim_enc.SGR_module.{step}"
      q, k = linear(w, f"{key}.graph_query_w", x), linear(w, f"{key}.graph_key_w", x)
      edges = np.stack([softmax(row) for row in q @ k.T])
      x = np.maximum(0, linear(w, f"{key}.sim_graph_w", edges @ x))
    z = x[0]
  else:
    h = linear(w, "sim_enc.SAF_module.attn_sim_w", x)[:, 0]
    beta = sigmoid(batch_norm(w, "sim_enc.SAF_module.bn", h))
    z = l2n((beta / (np.abs(beta).sum() + 1e-8)) @ x)
  return sigmoid(linear(w, "sim_enc.sim_eval_w", z))[0], attention


# State dicts ----------------------------------------------------------------------------


def state_dict(family, options, vocabulary=12, regions=36, seed=0):
  """A random state dict of small sizes under the official names."""
  random = np.random.default_rng(seed)
  f, e, d = options["img_dim"], options["word_dim"], options["embed_size"]
  w = {}

  def add(key, *shape):
    w[key] = random.normal(0, 0.5, shape)

  def add_linear(key, outputs, inputs):
    add(f"{key}.weight", outputs, inputs)
    add(f"{key}.bias", outputs)

  def add_norm(key, size):
    for name in ("weight", "bias", "running_mean"):
      add(f"{key}.{name}", size)
    w[f"{key}.running_var"] = random.uniform(0.5, 2, size)
    w[f"{key}.num_batches_tracked"] = np.array(7)

  if options.get("precomp_enc_type") == "weight_norm":
    w["img_enc.fc.weight_g"] = np.array(1.7)
    add("img_enc.fc.weight_v", d, f)
    add("img_enc.fc.bias", d)
  else:
    add_linear("img_enc.fc", d, f + (200 if family == "pfan" else 0))
  if family == "pfan":
    add_linear("img_enc.fc_att", 200, f)
    add("img_enc.position_embedding.weight", 257, 200)
  add("txt_enc.embed.weight", vocabulary, e)
  rnn = "cap_rnn" if family == "sgraf" else "rnn"
  both = family in ("bfan", "sgraf") or options.get("bi_gru")
  for suffix in ("", "_reverse") if both else ("",):
    add(f"txt_enc.{rnn}.weight_ih_l0{suffix}", 3 * d, e)
    add(f"txt_enc.{rnn}.weight_hh_l0{suffix}", 3 * d, d)
    add(f"txt_enc.{rnn}.bias_ih_l0{suffix}", 3 * d)
    add(f"txt_enc.{rnn}.bias_hh_l0{suffix}", 3 * d)
  if family == "sgraf":
    k = options["sim_dim"]
    for part in ("v_global_w", "t_global_w"):
      add_linear(f"sim_enc.{part}.embedding_local.0", d, d)
      add_linear(f"sim_enc.{part}.embedding_global.0", d, d)
      add_linear(f"sim_enc.{part}.embedding_common.0", 1, d)
    add_norm("sim_enc.v_global_w.embedding_local.1", regions)
    add_norm("sim_enc.v_global_w.embedding_global.1", d)
    add_linear("sim_enc.sim_tranloc_w", k, d)
    add_linear("sim_enc.sim_tranglo_w", k, d)
    add_linear("sim_enc.sim_eval_w", 1, k)
    if options.get("module_name", "SGR") == "SGR":
      for step in range(options.get("sgr_step", 3)):
        for part in ("graph_query_w", "graph_key_w", "sim_graph_w"):
          add_linear(f"sim_enc.SGR_module.{step}.{part}", k, k)
    else:
      add_linear("sim_enc.SAF_module.attn_sim_w", 1, k)
      add_norm("sim_enc.SAF_module.bn", 1)
  return w
