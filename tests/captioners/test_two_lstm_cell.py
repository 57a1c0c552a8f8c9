import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import two_lstm_cell

B, K, H = 2, 3, 4


def make(**options):
  defaults = {"feedback": True, "query": "current", "streams": "independent", "branches": K}
  return two_lstm_cell.TwoLSTMCell(H, **(defaults | options))


def random_state(streams=K):
  rng = np.random.default_rng(1)
  shapes = {"h1": (B, H), "c1": (B, H), "h2": (B, streams, H), "c2": (B, streams, H)}
  return {name: tf.constant(rng.normal(size=s), tf.float32) for name, s in shapes.items()}


def kernels(feedback=True):
  rng = np.random.default_rng(2)
  sizes = {"attention_lstm": 2 * H if feedback else H, "language_lstm": 3 * H}
  return {name: rng.normal(size=(n, 4 * H)).astype(np.float32) for name, n in sizes.items()}


def run(cell, state, weights):
  """The cell with products without bias, and a context that is a function of the query."""
  asked = []

  def attend(query, multiply):
    asked.append(query.numpy())
    scale = tf.reshape(tf.range(1.0, K + 1.0), [1, K, 1])
    return {"context": query[:, tf.newaxis] * scale}

  state, outputs = cell(state, attend, lambda name, x: tf.matmul(x, weights[name]))
  return state, outputs, asked[0]


def lstm(x, c, kernel):
  i, f, g, o = np.split(x @ kernel, 4)
  sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
  c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
  return sigmoid(o) * np.tanh(c), c


@pytest.mark.parametrize("feedback", [True, False])
def test_restates_its_equations_for_every_branch(feedback):
  state, weights = random_state(), kernels(feedback)
  new, outputs, _ = run(make(feedback=feedback), state, weights)
  old = {name: x.numpy() for name, x in state.items()}
  for b in range(B):
    inputs = [old["h2"][b].mean(0), old["h1"][b]] if feedback else [old["h1"][b]]
    h1, c1 = lstm(np.concatenate(inputs), old["c1"][b], weights["attention_lstm"])
    np.testing.assert_allclose(new["h1"][b], h1, atol=1e-5)
    np.testing.assert_allclose(new["c1"][b], c1, atol=1e-5)
    for k in range(K):
      inputs = np.concatenate([h1 * (k + 1), h1, old["h2"][b, k]])
      h2, c2 = lstm(inputs, old["c2"][b, k], weights["language_lstm"])
      np.testing.assert_allclose(outputs["hidden"][b, k], h2, atol=1e-5)
      np.testing.assert_allclose(new["h2"][b, k], h2, atol=1e-5)
      np.testing.assert_allclose(new["c2"][b, k], c2, atol=1e-5)


def test_the_attention_is_asked_with_h1_of_this_step_or_of_the_step_before():
  state = random_state()
  new, _, asked = run(make(), state, kernels())
  np.testing.assert_array_equal(asked, new["h1"])
  _, _, asked = run(make(query="previous"), state, kernels())
  np.testing.assert_array_equal(asked, state["h1"])


@pytest.mark.parametrize("streams", ["first", "mean"])
def test_one_stream_keeps_the_first_branch_or_the_mean(streams):
  new, outputs, _ = run(make(streams=streams), random_state(streams=1), kernels())
  hidden = outputs["hidden"].numpy()
  expected = hidden[:, :1] if streams == "first" else hidden.mean(1, keepdims=True)
  np.testing.assert_allclose(new["h2"], expected, atol=1e-6)
  assert new["c2"].shape == (B, 1, H)


def test_the_state_starts_with_zeros_in_as_many_streams_as_it_keeps():
  assert make().zero_state(5)["h2"].shape == (5, K, H)
  assert make(streams="mean").zero_state(5)["h2"].shape == (5, 1, H)
  assert make().zero_state(5, streams=1)["c2"].shape == (5, 1, H)
