import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import updown
from gcap_tf.layers import dropout
from tests import captioner_harness

BATCH = captioner_harness.make_batch()
SEED = tf.constant([1, 2])


def make(**options):
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  return updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, **(sizes | options)))


@pytest.mark.parametrize("streams", ["independent", "first", "mean"])
def test_streams_of_branches_keep_the_contract(streams):
  model = make(branches=3, streams=streams)
  captioner_harness.check_shapes_and_attention(model, BATCH)
  captioner_harness.check_step_equals_teacher_force(model, BATCH)
  captioner_harness.check_gradients(model, BATCH, True, ())


def test_first_and_mean_streams_differ_from_independent_ones_after_the_first_word():
  models = {name: make(branches=3, streams=name) for name in ("independent", "first", "mean")}
  for model in models.values():
    for mine, other in zip(models["first"].variables, model.variables, strict=True):
      other.assign(mine)
  logits = {
    name: model.teacher_force(model.encode(BATCH), BATCH["tokens"])["branch_logits"].numpy()
    for name, model in models.items()
  }
  np.testing.assert_allclose(logits["first"][:, 0], logits["mean"][:, 0], atol=1e-6)
  assert np.abs(logits["first"][:, 1] - logits["mean"][:, 1]).max() > 1e-5
  assert np.abs(logits["first"][:, 1] - logits["independent"][:, 1]).max() > 1e-5


def test_query_of_the_step_before_is_zero_at_the_first_word():
  model = make(query="previous")
  captioner_harness.check_step_equals_teacher_force(model, BATCH)
  memory = model.encode(BATCH)
  attention = model.teacher_force(memory, BATCH["tokens"])["attention"][::2, 0]
  scores = model.region_attention(memory["keys"], tf.zeros([3, 9]))[:, 0]
  expected = tf.nn.softmax(tf.where(BATCH["region_mask"][:, None], scores, -1e9))
  np.testing.assert_allclose(attention, expected, atol=1e-6)


def test_extras_are_given_where_asked_for():
  model = make(branches=2)
  memory = model.encode(BATCH)
  outputs = model.teacher_force(memory, BATCH["tokens"], extras=("query", "scores"))
  assert outputs["query"].shape == (6, 6, 9)
  assert outputs["scores"].shape == (6, 6, 2, 5)
  assert "query" not in model.teacher_force(memory, BATCH["tokens"])


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


def test_a_deep_output_draws_the_same_noise_step_by_step():
  model = make(output_layers=3, dropout=0.5)
  memory = model.encode(BATCH, SEED)
  forced = model.teacher_force(memory, BATCH["tokens"], SEED)
  state = {name: tf.repeat(x, 2, axis=0) for name, x in model.initial_state(memory).items()}
  previous = tf.pad(BATCH["tokens"][:, :-1], [[0, 0], [1, 0]])
  for t in range(previous.shape[1]):
    outputs = model.step(memory, state, previous[:, t], dropout.derive(SEED, t))
    state = outputs["state"]
    np.testing.assert_allclose(outputs["logits"], forced["logits"][:, t], atol=1e-5)
  np.testing.assert_allclose(
    model.word_logits(forced["hidden"])[:, :, 0], forced["logits"], atol=1e-6
  )


def test_several_heads_keep_the_contract():
  model = make(heads=3)
  captioner_harness.check_shapes_and_attention(model, BATCH)
  captioner_harness.check_step_equals_teacher_force(model, BATCH)
  captioner_harness.check_gradients(model, BATCH, True, ())


def test_heads_need_one_branch_and_a_size_they_divide():
  with pytest.raises(errors.UserError, match="heads=2 needs branches=1"):
    make(heads=2)
  with pytest.raises(errors.UserError, match="branches=3"):
    make(heads=3, branches=3)
