import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import gvd
from tests import captioner_harness

SIZES = {
  **{"embedding_size": 8, "hidden_size": 10, "attention_size": 6},
  **{"feature_size": 7, "region_size": 9, "location_size": 8, "interaction_heads": 3},
}


def make(**options):
  captioner_harness.fix_start()
  return gvd.GVDCaptioner(gvd.GVDConfig(vocabulary_size=11, **(SIZES | options)))


def with_grid(batch, cells=4, size=5):
  rng = np.random.default_rng(1)
  pictures = batch["boxes"].shape[0]
  mask = np.ones((pictures, cells), bool)
  mask[1, 2:] = False
  return batch | {
    "grid_features": tf.constant(rng.normal(size=(pictures, cells, size)), tf.float32),
    "grid_mask": tf.constant(mask),
  }


def test_keeps_the_contract():
  captioner_harness.check_captioner(make, captioner_harness.make_batch())


def test_keeps_the_contract_on_labels_with_classes_and_interaction():
  batch = captioner_harness.make_batch(features=0)
  options = {"feature_size": 0, "num_labels": 4, "label_size": 5, "num_classes": 4}
  captioner_harness.check_captioner(lambda: make(**options, interaction_layers=2), batch)


@pytest.mark.parametrize("options", [{}, {"shared_attention": True}, {"branches": 3}])
def test_a_grid_is_attended_to_and_its_padding_is_not(options):
  model, batch = make(grid_size=5, **options), with_grid(captioner_harness.make_batch())
  captioner_harness.check_step_equals_teacher_force(model, batch)
  captioner_harness.check_gradients(model, batch, True, ())
  before = model.teacher_force(model.encode(batch), batch["tokens"])["logits"]
  noise = tf.where(batch["grid_mask"][..., None], batch["grid_features"], 99.0)
  after = model.teacher_force(model.encode(batch | {"grid_features": noise}), batch["tokens"])
  np.testing.assert_allclose(after["logits"], before, atol=1e-5)
  other = batch | {"grid_features": batch["grid_features"] + 1.0}
  moved = model.teacher_force(model.encode(other), batch["tokens"])["logits"]
  assert np.abs(moved - before).max() > 1e-4


def test_a_batch_without_the_grid_that_it_reads_is_an_error():
  with pytest.raises(errors.UserError, match="reads a grid of 5"):
    make(grid_size=5).encode(captioner_harness.make_batch())


def test_the_frame_of_a_region_counts_in_a_video():
  batch = captioner_harness.make_batch()
  later = batch | {"frame": batch["frame"] + 3}
  for frames, differs in ((1, False), (10, True)):
    model = make(num_frames=frames)
    change = model.encode(batch)["regions"] - model.encode(later)["regions"]
    assert (np.abs(change).max() > 1e-6) == differs


def test_regions_restate_their_equations():
  model, batch = make(num_classes=3), captioner_harness.make_batch()
  memory = model.encode(batch)
  relu = lambda x: np.maximum(x, 0)  # noqa: E731
  affine = lambda layer, x: x @ layer.kernel.numpy() + layer.bias.numpy()  # noqa: E731

  def norm(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)

  feature, box = batch["features"].numpy()[1, 2], batch["boxes"].numpy()[1, 2]
  g = relu(affine(model.refine_region, feature))
  logits = g @ relu(model.classes.kernel.numpy()) + model.classes.bias.numpy()
  np.testing.assert_allclose(memory["class_logits"][1, 2], logits, atol=1e-4)
  m = np.exp(logits) / np.exp(logits).sum()
  location = relu(affine(model.location, box))
  joined = np.concatenate([norm(g), norm(location), norm(m)])
  expected = relu(affine(model.encode_region, joined))
  np.testing.assert_allclose(memory["regions"][1, 2], expected, atol=1e-4)


def test_the_attention_lstm_does_not_see_h2():
  model, batch = make(), captioner_harness.make_batch()
  memory = model.encode(batch)
  state = model.initial_state(memory)
  other = state | {"h2": state["h2"] + 1.0}
  token = tf.constant([1, 2, 3])
  first, second = (model.step(memory, s, token) for s in (state, other))
  np.testing.assert_array_equal(first["attention"], second["attention"])
  assert np.abs(first["logits"] - second["logits"]).max() > 1e-4
