import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import frame_encoder
from tests import captioner_harness
from tests.captioners import video_oracle

LENGTHS = np.array([6, 2, 4])


def make(**options):
  captioner_harness.fix_start()
  return frame_encoder.FrameEncoder((3, 2), 8, name="frames", **options)


@pytest.fixture
def frames():
  mask = np.arange(6) < LENGTHS[:, None]
  values = np.random.default_rng(0).normal(size=(3, 6, 5)) * mask[..., None]
  return values.astype(np.float32), mask


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_frames_are_those_of_a_loop_over_real_frames(frames, layers):
  values, mask = frames
  encoder = make(layers=layers)
  found = encoder(values, mask).numpy()
  for i, length in enumerate(LENGTHS):
    expected = video_oracle.encode_frames(encoder, values[i, :length])
    np.testing.assert_allclose(found[i, :length], expected, atol=1e-5)
    assert not found[i, length:].any()


def test_the_released_code_runs_over_padding(frames):
  values, mask = frames
  encoder = make(over_padding=True)
  found = encoder(values, mask).numpy()
  for i in range(3):
    np.testing.assert_allclose(found[i], video_oracle.encode_frames(encoder, values[i]), atol=1e-5)


@pytest.mark.parametrize("over_padding", [False, True])
def test_statistics_count_padding_only_as_released(frames, over_padding):
  values, mask = frames
  encoder = make(over_padding=over_padding, rate=0.0)
  encoder(values, mask, tf.constant([1, 2]))
  rows = values.reshape(-1, 5) if over_padding else values[mask]
  mapped = [
    video_oracle.relu(video_oracle.affine(layer, part))
    for layer, part in zip(encoder.maps, (rows[:, :3], rows[:, 3:]), strict=True)
  ]
  x = np.concatenate(mapped, 1)
  np.testing.assert_allclose(encoder.norm.moving_mean, 0.1 * x.mean(0), atol=1e-6)
  variance = 0.9 + 0.1 * x.var(0, ddof=1)
  np.testing.assert_allclose(encoder.norm.moving_variance, variance, atol=1e-6)


def test_gradients_reach_every_weight_and_no_padding(frames):
  values, mask = frames
  encoder = make(rate=0.0)
  inputs = tf.constant(values)
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(inputs)
    loss = tf.reduce_sum(tf.square(encoder(inputs, mask, tf.constant([1, 2]))))
  for weight in encoder.trainable_variables:
    assert np.abs(tape.gradient(loss, weight.value)).max() > 0, weight.path
  assert not np.asarray(tape.gradient(loss, inputs))[~mask].any()


def test_every_weight_is_tracked():
  """2 maps of 2 weights, a norm of 2 (and 2 statistics), 2 layers of 2 GRUs of 4 weights."""
  encoder = make()
  assert len(encoder.trainable_variables) == 4 + 2 + 16
  assert len(encoder.variables) == 22 + 2


def test_dropout_repeats_with_its_seed(frames):
  encoder = make()
  first, again, other = (encoder(*frames, tf.constant([1, n])).numpy() for n in (2, 2, 3))
  np.testing.assert_array_equal(first, again)
  assert np.abs(first - other).max() > 1e-3
