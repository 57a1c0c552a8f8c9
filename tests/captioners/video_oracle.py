"""GVD on videos in plain NumPy loops, from the equations and the released formulas."""

import numpy as np


def relu(x):
  return np.maximum(x, 0)


def sigmoid(x):
  return 1 / (1 + np.exp(-x))


def affine(layer, x):
  return x @ np.asarray(layer.kernel) + np.asarray(layer.bias)


def layer_norm(x):
  return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def softmax(values):
  shifted = np.exp(values - max(values))
  return shifted / shifted.sum()


def gru(layer, rows):
  """States of a GRU with PyTorch's gates r, z, n over a list of vectors."""
  kernel, recurrent = np.asarray(layer.kernel), np.asarray(layer.recurrent_kernel)
  bias, recurrent_bias = np.asarray(layer.bias), np.asarray(layer.recurrent_bias)
  units = len(recurrent)
  h, states = np.zeros(units), []
  for x in rows:
    a, b = x @ kernel + bias, h @ recurrent + recurrent_bias
    r = sigmoid(a[:units] + b[:units])
    z = sigmoid(a[units : 2 * units] + b[units : 2 * units])
    n = np.tanh(a[2 * units :] + r * b[2 * units :])
    h = (1 - z) * n + z * h
    states.append(h)
  return states


def encode_frames(encoder, frames):
  """u of one video's frames, outside training: a list of vectors to a list of vectors."""
  rows = []
  norm = encoder.norm
  scale = np.asarray(norm.gamma) / np.sqrt(np.asarray(norm.moving_variance) + 1e-5)
  for frame in frames:
    parts, start = [], 0
    for layer, size in zip(encoder.maps, encoder.parts, strict=True):
      parts.append(relu(affine(layer, frame[start : start + size])))
      start += size
    x = np.concatenate(parts)
    rows.append(relu((x - np.asarray(norm.moving_mean)) * scale + np.asarray(norm.beta)))
  for forward, backward in encoder.directions:
    ahead = gru(forward, rows)
    behind = gru(backward, rows[::-1])[::-1]
    rows = [np.concatenate(pair) for pair in zip(ahead, behind, strict=True)]
  return rows


def encode_region(model, feature, box, frame):
  """R of one region, and its class logits."""
  g = relu(affine(model.refine_region, feature))
  logits = g @ relu(np.asarray(model.classes.kernel)) + np.asarray(model.classes.bias)
  place = np.append(box, frame / model.config.num_frames)
  location = relu(affine(model.location, place))
  joined = [layer_norm(g), layer_norm(location), layer_norm(softmax(logits))]
  return relu(affine(model.encode_region, np.concatenate(joined))), logits


def encode_video(model, global_feature):
  """v_g of a segment from the mean of the frames and the segment's position."""
  mean, position = global_feature[:-4], global_feature[-4:]
  position = relu(affine(model.encode_position, position))
  return relu(
    affine(model.encode_picture, np.concatenate([layer_norm(mean), layer_norm(position)]))
  )


def additive(attention, key, query, branch=0):
  """z of one key for one query."""
  units = attention.units
  own = slice(branch * units, (branch + 1) * units)
  asked = affine(attention.query_map, query)[own]
  weights, bias = np.asarray(attention.score_kernel), np.asarray(attention.score_bias)
  return weights[branch] @ np.tanh(key + asked) + bias[branch]


def region_key(attention, region, branch=0):
  units = attention.units
  return affine(attention.key_map, region)[branch * units : (branch + 1) * units]


def box_in_frames(alpha, won, boxes, frame, real, frames):
  """Boxes [F, 4] of one word from weights [K][R]: picks of branches exclude later picks."""
  answer = np.zeros((frames, 4))
  for f in range(frames):
    taken, picked = [], []
    for branch, weights in enumerate(alpha):
      inside = [r for r in range(len(boxes)) if real[r] and frame[r] == f]
      free = [r for r in inside if r not in taken] or inside
      if not free:
        continue
      best = max(free, key=lambda r: (weights[r], -r))
      taken.append(best)
      if won[branch]:
        picked.append(boxes[best])
    if picked:
      picked = np.array(picked)
      answer[f] = [*picked[:, :2].min(0), *picked[:, 2:].max(0)]
  return answer
