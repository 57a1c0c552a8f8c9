"""GVD, Distributed and Cyclical on videos, against loops in NumPy (video_oracle.py)."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from tests import captioner_harness
from tests.captioners import video_oracle

FRAMES, CELLS, PARTS = 4, 7, (3, 2)
SIZES = {
  **{"embedding_size": 8, "hidden_size": 10, "attention_size": 6},
  **{"feature_size": 7, "region_size": 9, "location_size": 8, "num_classes": 3},
  **{"num_frames": FRAMES, "grid_size": sum(PARTS), "frame_parts": PARTS, "frame_layers": 2},
  **{"segment_size": 3, "global_size": sum(PARTS) + 4},
}


def make(name="gvd", **options):
  captioner_harness.fix_start()
  cls = catalog.CAPTIONERS.get(name)
  model = cls(cls.Config(vocabulary_size=11, **(SIZES | options)))
  norm = model.encode_grid.norm  # Statistics as after training.
  rng = np.random.default_rng(5)
  norm.moving_mean.assign(rng.normal(size=10))
  norm.moving_variance.assign(rng.uniform(0.5, 2, size=10))
  return model


@pytest.fixture
def batch():
  """Videos of 7, 5 and 6 frames, of which the segments have 3, 2 and 6."""
  batch = captioner_harness.make_batch(regions=9)
  rng = np.random.default_rng(1)
  frame = np.sort(rng.integers(0, FRAMES, size=(3, 9)), 1)
  lengths = np.array([7, 5, 6])
  mask = np.arange(CELLS) < lengths[:, None]
  frames = rng.normal(size=(3, CELLS, sum(PARTS))) * mask[..., None]
  position = [[0, 3, 0.1, 0.4], [2, 3, 0.5, 0.9], [0, 1, 0.0, 1.0]]
  whole = np.concatenate([frames.sum(1) / lengths[:, None], position], 1)
  return batch | {
    "frame": tf.constant(frame, tf.int32),
    "grid_features": tf.constant(frames, tf.float32),
    "grid_mask": tf.constant(mask),
    "segment": tf.constant([[2, 5], [3, 5], [0, 6]], tf.int32),
    "global_feature": tf.constant(whole, tf.float32),
  }


def looks(model, memory, batch):
  """h1 and state after the first word of picture 1."""
  state = model.initial_state(memory)
  return model.step(memory, state, tf.constant([1, 2, 3]))


@pytest.mark.parametrize("name", ["gvd", "distributed", "cyclical"])
def test_the_contract_holds_on_videos(name, batch):
  model = make(name)
  captioner_harness.check_step_equals_teacher_force(model, batch)
  unused = ("localizer", "classes") if name == "cyclical" else ("classes",)
  captioner_harness.check_gradients(model, batch, True, unused)


def test_frames_are_encoded_as_by_a_loop(batch):
  model = make()
  grid = model.encode(batch)["grid"].numpy()
  for i, length in enumerate([7, 5, 6]):
    expected = video_oracle.encode_frames(
      model.encode_grid, batch["grid_features"].numpy()[i, :length]
    )
    np.testing.assert_allclose(grid[i, :length], expected, atol=1e-5)
    assert not grid[i, length:].any()


def test_regions_are_encoded_with_their_frame_as_by_a_loop(batch):
  model = make()
  memory = model.encode(batch)
  arrays = {name: batch[name].numpy() for name in ("features", "boxes", "frame", "region_mask")}
  for i in range(3):
    for r in np.flatnonzero(arrays["region_mask"][i]):
      encoded, logits = video_oracle.encode_region(
        model, arrays["features"][i, r], arrays["boxes"][i, r], arrays["frame"][i, r]
      )
      np.testing.assert_allclose(memory["regions"][i, r], encoded, atol=1e-5)
      np.testing.assert_allclose(memory["class_logits"][i, r], logits, atol=1e-5)


def test_the_position_of_the_segment_is_part_of_the_video(batch):
  model = make()
  gates = model.encode(batch)["gates"].numpy()
  kernel = np.asarray(model.attention_lstm.input_kernels[0])
  for i, whole in enumerate(batch["global_feature"].numpy()):
    expected = video_oracle.encode_video(model, whole) @ kernel
    np.testing.assert_allclose(gates[i], expected, atol=1e-5)


def context_of(model, batch, memory, i, h1, leak=False):
  """û + r̂ of one branch for query h1 of video i, by loops; and the attention over regions."""
  mask = batch["region_mask"].numpy()[i]
  regions, grid = memory["regions"].numpy()[i], memory["grid"].numpy()[i]
  first, end = batch["segment"].numpy()[i]
  real = [r for r in range(len(mask)) if mask[r]]
  attention = model.region_attention
  z = [
    video_oracle.additive(attention, video_oracle.region_key(attention, regions[r]), h1)
    for r in real
  ]
  weights = video_oracle.softmax(np.array(z))
  context = sum(w * regions[r] for w, r in zip(weights, real, strict=True))
  shared = model.config.shared_attention
  over_frames = attention if shared else model.grid_attention
  slots = range(CELLS) if leak else range(first, min(end, batch["grid_mask"].numpy()[i].sum()))
  z = []
  for j in slots:
    key = video_oracle.affine(model.grid_key_map if shared else over_frames.key_map, grid[j])
    z.append(video_oracle.additive(over_frames, key, h1))
  for weight, j in zip(video_oracle.softmax(np.array(z)), slots, strict=True):
    context = context + weight * grid[j]
  return context, dict(zip(real, weights, strict=True))


@pytest.mark.parametrize(
  ("name", "options"),
  [("gvd", {}), ("cyclical", {}), ("gvd", {"temporal_leak": True})],
)
def test_both_attentions_are_those_of_a_loop(name, options, batch):
  model = make(name, **options)
  memory = model.encode(batch)
  rng = np.random.default_rng(2)
  h1 = rng.normal(size=(3, 10)).astype(np.float32)
  multiply = lambda _, x: model.region_attention.query_map(x)  # noqa: E731
  seen = model._attend(memory, tf.constant(h1), multiply)
  for i in range(3):
    context, weights = context_of(model, batch, memory, i, h1[i], **_leak(options))
    np.testing.assert_allclose(seen["context"][i, 0], context, atol=1e-5)
    for r, weight in weights.items():
      np.testing.assert_allclose(seen["attention"][i, 0, r], weight, atol=1e-5)


def _leak(options):
  return {"leak": options.get("temporal_leak", False)}


def test_the_localiser_points_at_regions_and_frames_of_the_segment(batch):
  model = make("cyclical")
  memory = model.encode(batch)
  query = np.random.default_rng(3).normal(size=(2, 3, 6)).astype(np.float32)
  contexts, found = model._localize(memory, tf.constant(query))
  for t in range(2):
    for i in range(3):
      mask = batch["region_mask"].numpy()[i]
      first, end = batch["segment"].numpy()[i]
      real = np.flatnonzero(mask)
      keys = memory["keys"].numpy()[i, 0]
      beta = video_oracle.softmax(np.array([query[t, i] @ keys[r] for r in real]))
      np.testing.assert_allclose(found[t, i].numpy()[real], beta, atol=1e-5)
      expected = sum(b * memory["regions"].numpy()[i, r] for b, r in zip(beta, real, strict=True))
      grid, slots = memory["grid"].numpy()[i], range(first, end)
      over = [query[t, i] @ video_oracle.affine(model.grid_key_map, grid[j]) for j in slots]
      over = video_oracle.softmax(np.array(over))
      expected = expected + sum(b * grid[j] for b, j in zip(over, slots, strict=True))
      np.testing.assert_allclose(contexts[t, i], expected, atol=1e-5)


def test_frames_outside_the_segment_matter_only_through_the_gru_or_the_leak(batch):
  """Slots outside the segment get no weight, unless the released leak is on."""
  for leak in (False, True):
    model = make(temporal_leak=leak)
    memory = model.encode(batch)
    mask = memory["grid_mask"].numpy()
    assert mask.all() == leak
    if not leak:
      assert mask.sum(1).tolist() == [3, 2, 6]


def test_padding_after_the_last_frame_changes_nothing(batch):
  model = make()
  before = model.teacher_force(model.encode(batch), batch["tokens"])["logits"]
  longer = batch | {
    "grid_features": tf.pad(batch["grid_features"], [[0, 0], [0, 3], [0, 0]], constant_values=9.0),
    "grid_mask": tf.pad(batch["grid_mask"], [[0, 0], [0, 3]]),
  }
  after = model.teacher_force(model.encode(longer), batch["tokens"])["logits"]
  np.testing.assert_allclose(after, before, atol=1e-5)


def test_parts_that_do_not_add_up_are_refused():
  with pytest.raises(errors.UserError, match="add up to 4, frames have 5"):
    make(frame_parts=(2, 2))


@pytest.mark.parametrize("name", ["gvd", "distributed"])
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_every_word_has_a_box_in_every_frame(name, method, batch):
  model = make(name)
  config = decode_config.DecodeConfig(method, max_length=5)
  decoded = decoder.decode(model, model.encode(batch), config)
  attention, winners = decoded["attention"].numpy(), decoded["winners"].numpy()
  mask, frame = batch["region_mask"].numpy(), batch["frame"].numpy()
  boxes = batch["boxes"].numpy()
  assert decoded["box_frames"].shape == (3, 5, FRAMES, 4)
  for i in range(3):
    for t in range(5):
      if t >= decoded["length"][i]:
        assert not decoded["box_frames"][i, t].numpy().any()
        continue
      expected = video_oracle.box_in_frames(
        attention[i, t], winners[i, t], boxes[i], frame[i], mask[i], FRAMES
      )
      np.testing.assert_allclose(decoded["box_frames"][i, t], expected, atol=1e-6)


def test_the_one_frame_of_a_picture_has_the_words_own_box(batch):
  """The general rule on one frame is what pictures have."""
  from gcap_tf.decoding import grounding

  model = make("distributed")
  outputs = model.teacher_force(model.encode(batch), batch["tokens"])
  repeated = tf.repeat(batch["boxes"], 2, axis=0)
  args = outputs["attention"], outputs["winners"], repeated
  found = grounding.frame_boxes(*args, tf.zeros_like(repeated[..., 0], tf.int32), 1)
  np.testing.assert_allclose(found[:, :, 0], grounding.word_boxes(*args)[1], atol=1e-6)
