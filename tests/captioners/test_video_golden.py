"""GVD and Cyclical on videos against what PyTorch computed with the released formulas."""

import json

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import catalog
from tests.captioners import video_golden

REGIONS, SLOTS = 7, 6


def make(name):
  sizes = video_golden.SIZES
  cls = catalog.CAPTIONERS.get(name)
  model = cls(
    cls.Config(
      vocabulary_size=sizes["v"],
      num_classes=sizes["c"],
      feature_size=sizes["d"],
      region_size=sizes["d"],
      embedding_size=sizes["e"],
      hidden_size=sizes["h"],
      attention_size=sizes["a"],
      location_size=video_golden.PLACE,
      num_frames=10,
      grid_size=sum(video_golden.PARTS),
      frame_parts=video_golden.PARTS,
      frame_layers=2,
      segment_size=video_golden.POSITION,
      global_size=sum(video_golden.PARTS) + 4,
      temporal_leak=True,
    )
  )
  fill(model, name == "cyclical")
  return model


def fill(model, cycle):
  """Gives every weight the value of its released name; fails if one is left out."""
  left = {variable.path for variable in model.variables}

  def put(variable, value):
    variable.assign(np.reshape(value, variable.shape))
    left.discard(variable.path)

  def drawn(name, variable, turned=False):
    shape = tuple(variable.shape)
    found = video_golden.weight(name, shape[::-1] if turned else shape)
    put(variable, found.T if turned else found)

  def dense(name, layer):
    drawn(f"{name}.weight", layer.kernel, turned=True)
    drawn(f"{name}.bias", layer.bias)

  def attention(name, layer):
    dense(f"{name}.h2att", layer.query_map)
    drawn(f"{name}.alpha_net.weight", layer.score_kernel)
    drawn(f"{name}.alpha_net.bias", layer.score_bias)

  released = {
    "ctx2pool_grd": model.refine_region,
    "loc_fc": model.location,
    "pool_embed": model.encode_region,
    "seg_info_embed": model.encode_position,
    "fc_embed": model.encode_picture,
    "ctx2pool": model.region_attention.key_map,
    "ctx2att": model.grid_key_map if cycle else model.grid_attention.key_map,
    "logit": model.word_output,
    **{f"att_embed.{n}": layer for n, layer in enumerate(model.encode_grid.maps)},
    **({"localizer": model.localizer.maps[0]} if cycle else {}),
  }
  for name, layer in released.items():
    dense(name, layer)
  # The released decoder of Cyclical has one attention, which both names mean.
  attention("attention2", model.region_attention)
  if not cycle:
    attention("attention", model.grid_attention)
  drawn("vis_embed.weight", model.classes.kernel, turned=True)
  drawn("vis_classifiers_bias", model.classes.bias)
  drawn("embed.weight", model.words.embeddings)
  norm = model.encode_grid.norm
  for name, variable in (
    ("weight", norm.gamma), ("bias", norm.beta),
    ("running_mean", norm.moving_mean), ("running_var", norm.moving_variance),
  ):  # fmt: skip
    drawn(f"att_embed_aux.{name}", variable)
  for layer, directions in enumerate(model.encode_grid.directions):
    for gru, ending in zip(directions, ("", "_reverse"), strict=True):
      for name, variable in (("ih", gru.kernel), ("hh", gru.recurrent_kernel)):
        drawn(f"context_enc.weight_{name}_l{layer}{ending}", variable, turned=True)
      for name, variable in (("ih", gru.bias), ("hh", gru.recurrent_bias)):
        drawn(f"context_enc.bias_{name}_l{layer}{ending}", variable)
  lstm(put, "att_lstm", model.attention_lstm, cycle)
  lstm(put, "lang_lstm", model.language_lstm, False)
  assert not left, left


def lstm(put, name, cell, feedback):
  """PyTorch's LSTM: inputs [h2; v; x] or [v; x] of the first, [context; h1] of the second."""
  h, constant = video_golden.SIZES["h"], sum(k.shape[0] for k in cell.input_kernels)
  stepped = int(cell.step_kernel.shape[0]) - h
  ih = video_golden.weight(f"{name}.weight_ih", (4 * h, constant + stepped)).T
  hh = video_golden.weight(f"{name}.weight_hh", (4 * h, h)).T
  biases = [video_golden.weight(f"{name}.bias_{kind}", (4 * h,)) for kind in ("ih", "hh")]
  start = stepped
  for kernel in cell.input_kernels:
    put(kernel, ih[start : start + kernel.shape[0]])
    start += int(kernel.shape[0])
  assert feedback == bool(stepped and constant)
  put(cell.step_kernel, np.concatenate([ih[:stepped], hh]))
  put(cell.bias, biases[0] + biases[1])


def make_batch(cycle):
  given = video_golden.arrays()
  inside = given["in_segment"]
  segment = [inside.argmax(1), SLOTS - inside[:, ::-1].argmax(1)]
  mask = np.ones_like(given["region_mask"]) if cycle else given["region_mask"]
  return {
    "features": tf.constant(given["features"]),
    "boxes": tf.constant(given["boxes"]),
    "frame": tf.constant(given["frame"], tf.int32),
    "region_mask": tf.constant(mask),
    "region_labels": tf.zeros([2, REGIONS], tf.int32),
    "grid_features": tf.constant(given["frames"]),
    "grid_mask": tf.constant(given["frame_mask"]),
    "segment": tf.constant(np.stack(segment, 1), tf.int32),
    "global_feature": tf.constant(np.concatenate([given["mean"], given["position"]], 1)),
  }


@pytest.mark.parametrize("name", ["gvd", "cyclical"])
def test_captioners_of_videos_compute_what_the_released_formulas_give(name):
  golden = json.loads(video_golden.PATH.read_text())[name]
  model, batch = make(name), make_batch(name == "cyclical")
  tokens, real = (
    tf.constant(video_golden.arrays()["tokens"], tf.int32),
    batch["region_mask"].numpy(),
  )
  memory = model.encode(batch)
  regions = np.array(golden["regions"])
  np.testing.assert_allclose(memory["regions"].numpy()[real], regions[real], atol=1e-5)
  np.testing.assert_allclose(memory["grid"], golden["frames"], atol=1e-5)
  outputs = model.teacher_force(memory, tokens, extras=("scores",))
  log_probs = tf.nn.log_softmax(outputs["logits"]).numpy()
  np.testing.assert_allclose(log_probs, golden["log_probs"], atol=1e-5)
  scores = outputs["scores"].numpy()[:, :, 0]
  for own, theirs, kept in zip(scores, np.array(golden["scores"]), real, strict=True):
    np.testing.assert_allclose(own[:, kept], theirs[:, kept], atol=1e-5)
  if name == "cyclical":
    rebuilt = model.reconstruct(memory, tokens, tf.argmax(log_probs, -1, tf.int32))
    found = tf.nn.log_softmax(rebuilt["logits"])
    np.testing.assert_allclose(found, golden["rebuilt"], atol=1e-5)
