import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import neuraltalk2, updown
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def make(**options):
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  return updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, **(sizes | options)))


@pytest.mark.parametrize("branches", [1, 3])
@pytest.mark.parametrize("kind", ["linear", "mlp", "hidden"])
def test_reconstruction_reaches_every_weight_but_the_attention(kind, branches):
  model = make(localizer=kind, branches=branches)
  words = BATCH["tokens"]
  with tf.GradientTape() as tape:
    memory = model.encode(BATCH)
    query = tf.zeros([6, 6, 9]) + 0.1 if kind == "hidden" else None
    outputs = model.reconstruct(memory, BATCH["tokens"], words, query=query)
    loss = tf.reduce_mean(
      tf.nn.sparse_softmax_cross_entropy_with_logits(BATCH["tokens"], outputs["logits"])
    )
  variables = model.trainable_variables
  for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
    touched = gradient is not None and np.abs(tf.convert_to_tensor(gradient)).max() > 0
    asks = any(
      part in variable.path for part in ("region_attention_queries", "region_attention/score")
    )
    # Keys are shared, but a shift of all keys leaves the localiser's softmax as it was.
    if "region_attention_keys/bias" not in variable.path:
      assert touched == (not asks), variable.path


def test_reconstruction_restates_its_equations():
  """β_t = softmax(q_t · p) over real regions; the context drives LSTM2 in place of attention."""
  model = make(localizer="linear")
  memory = model.encode(BATCH)
  words = tf.roll(BATCH["tokens"], 1, 0)
  outputs = model.reconstruct(memory, BATCH["tokens"], words)
  embedding = np.maximum(model.words.embeddings.numpy(), 0)
  h1 = c1 = h2 = c2 = np.zeros(9)
  keys, regions = memory["keys"].numpy()[:, 0], memory["regions"].numpy()
  row, picture = 1, 0
  before = 0
  for t, token in enumerate(BATCH["tokens"].numpy()[row]):
    query = embedding[words.numpy()[row, t]] @ model.localizer.maps[0].kernel.numpy()
    query = query + model.localizer.maps[0].bias.numpy()
    scores = keys[picture] @ query
    scores[~BATCH["region_mask"].numpy()[picture]] = -np.inf
    beta = np.exp(scores - scores.max())
    beta /= beta.sum()
    np.testing.assert_allclose(outputs["attention"][row, t, 0], beta, atol=1e-5)
    known = memory["gates"].numpy()[picture]
    known = known + embedding[before] @ model.attention_lstm.input_kernels[1].numpy()
    h1, c1 = _lstm(model.attention_lstm, known, [h2, h1], c1)
    h2, c2 = _lstm(model.language_lstm, 0.0, [beta @ regions[picture], h1, h2], c2)
    expected = h2 @ model.word_output.kernel.numpy() + model.word_output.bias.numpy()
    np.testing.assert_allclose(outputs["logits"][row, t], expected, atol=1e-4)
    before = token


def test_words_that_are_not_kept_point_nowhere():
  model = make(localizer="linear")
  memory = model.encode(BATCH)
  outputs = model.reconstruct(memory, BATCH["tokens"], BATCH["tokens"], keep=BATCH["noun_mask"])
  total = outputs["attention"].numpy().sum((2, 3))
  np.testing.assert_allclose(total, BATCH["noun_mask"].numpy().astype(float), atol=1e-5)


def _lstm(cell, known, stepped, c):
  gates = np.concatenate(stepped) @ cell.step_kernel.numpy() + cell.bias.numpy() + known
  i, f, g, o = np.split(gates, 4)
  sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
  c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
  return sigmoid(o) * np.tanh(c), c


def test_the_contract_says_who_has_a_localizer_and_what_it_needs():
  assert not make().has_localizer and make().reconstruction_needs == ()
  linear, hidden = make(localizer="linear"), make(localizer="hidden")
  assert linear.has_localizer and linear.reconstruction_needs == ()
  assert hidden.has_localizer and hidden.reconstruction_needs == ("query",)


def test_a_captioner_without_a_localizer_refuses_in_one_line():
  config = neuraltalk2.Neuraltalk2Config(vocabulary_size=11, feature_size=7, hidden_size=4)
  model = neuraltalk2.Neuraltalk2Captioner(config)
  with pytest.raises(errors.UserError, match="Neuraltalk2Captioner has no localiser"):
    model.reconstruct(model.encode(BATCH), BATCH["tokens"], BATCH["tokens"])
