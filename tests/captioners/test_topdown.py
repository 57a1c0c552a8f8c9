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


@pytest.mark.parametrize("heads", [2, 3])
def test_several_heads_keep_the_contract(heads):
  """The hidden size is 9: 2 heads do not divide it."""
  model = make(heads=heads)
  captioner_harness.check_shapes_and_attention(model, BATCH)
  captioner_harness.check_step_equals_teacher_force(model, BATCH)
  captioner_harness.check_gradients(model, BATCH, True, ())


def test_heads_need_one_branch_and_a_unit_each():
  with pytest.raises(errors.UserError, match="heads=10 needs branches=1"):
    make(heads=10)
  with pytest.raises(errors.UserError, match="branches=3"):
    make(heads=3, branches=3)
