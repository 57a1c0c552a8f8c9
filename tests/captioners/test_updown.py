import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import updown
from tests import captioner_harness

SIZES = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6}


def make(**options):
  captioner_harness.fix_start()
  config = updown.UpDownConfig(vocabulary_size=11, **({"feature_size": 7} | SIZES | options))
  return updown.UpDownCaptioner(config)


def test_keeps_the_contract_on_features():
  captioner_harness.check_captioner(make, captioner_harness.make_batch())


def test_keeps_the_contract_on_labels_alone():
  batch = captioner_harness.make_batch(features=0)
  captioner_harness.check_captioner(
    lambda: make(feature_size=0, num_labels=4, label_size=5, use_box=True), batch
  )


NAMING = {"feature_size": 0, "num_labels": 4, "label_size": 5, "naming": True}


@pytest.mark.parametrize("branches", [1, 2])
def test_keeps_the_contract_where_regions_name_themselves(branches):
  options = NAMING | {"label_words": (0, 3, 0, 5, 7), "branches": branches}
  batch = captioner_harness.make_batch(features=0)
  captioner_harness.check_captioner(lambda: make(**options), batch)


def test_keeps_the_contract_where_regions_name_all_their_labels():
  options = {"naming": True, "soft_names": True, "label_words": (0, 3, 5), "label_columns": (1, 4)}
  captioner_harness.check_captioner(lambda: make(**options), captioner_harness.make_batch())


def test_an_attended_label_makes_its_word_likelier():
  model = make(**NAMING, label_words=(0, 3, 0, 5, 7))
  batch = captioner_harness.make_batch(features=0)
  batch["region_labels"] = tf.ones_like(batch["region_labels"])
  model.word_output.kernel.assign(tf.eye(9, 11))
  spoken = model.teacher_force(model.encode(batch), batch["tokens"])["logits"]
  model.naming.gain.assign(0.0)
  silent = model.teacher_force(model.encode(batch), batch["tokens"])["logits"]
  raised = (spoken - silent).numpy()
  assert (raised[..., 3] > 1.0).all()
  np.testing.assert_allclose(np.delete(raised, 3, -1), 0.0, atol=1e-5)


def test_keeps_the_contract_with_a_global_feature_and_deep_output():
  batch = captioner_harness.make_batch()
  captioner_harness.check_captioner(lambda: make(global_size=7, output_layers=2), batch)


def test_masks_on_regions_are_drawn_once_and_those_on_words_at_every_step():
  model, batch = make(), captioner_harness.make_batch()
  seed = tf.constant([1, 2])
  memory = model.encode(batch, seed)
  again = model.encode(batch, seed)
  np.testing.assert_array_equal(memory["regions"], again["regions"])
  same_word = tf.ones_like(batch["tokens"])
  clean, noisy = (model._embed_all(tf.transpose(same_word), s) for s in (None, seed))
  kept = (noisy.numpy() != 0) & (clean.numpy() != 0)
  assert (kept[0] != kept[1]).any()
  scale = noisy.numpy()[kept] / clean.numpy()[kept]
  np.testing.assert_allclose(scale, 2.0, rtol=1e-6)


def test_batch_norms_learn_statistics_of_real_regions_only():
  batch = captioner_harness.make_batch()
  seed = tf.constant([1, 2])
  models = make(batch_norms=2, dropout=0.0), make(batch_norms=2, dropout=0.0)
  for mine, other in zip(models[0].variables, models[1].variables, strict=True):
    other.assign(mine)
  models[0].encode(batch, seed)
  models[1].encode(captioner_harness.pad_regions(batch), seed)
  for mine, other in zip(models[0].norms, models[1].norms, strict=True):
    assert np.abs(mine.moving_mean).max() > 0
    np.testing.assert_allclose(mine.moving_mean, other.moving_mean, atol=1e-6)
    np.testing.assert_allclose(mine.moving_variance, other.moving_variance, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"branches": 3}], ids=["one", "three"])
def test_one_graph_serves_captions_of_any_length(options):
  model, batch = make(**options), captioner_harness.make_batch()
  traces = []

  @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, None], tf.int32)])
  def run(tokens):
    traces.append(1)
    return model.teacher_force(model.encode(batch), tokens)["logits"]

  for words in (6, 3, 1):
    assert run(batch["tokens"][:, :words]).shape == (6, words, 11)
  assert len(traces) == 1
