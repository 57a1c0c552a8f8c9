"""Tests of gcap_tf/training/methods/contrastive.py."""

import dataclasses
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.captioners import catalog, likelihood
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import checkpoints
from gcap_tf.training import schedules
from gcap_tf.training.methods import contrastive
from tests import captioner_harness
from tests.training import fine_tuned, small_runs

SEED = tf.constant([3, 5])
K, N = 2, 2


def make_model(name="neuraltalk2", start=1, dropout=0.0):
  keras.utils.set_random_seed(start)
  cls = catalog.CAPTIONERS.get(name)
  sizes = {"embedding_size": 8, "hidden_size": 9, "feature_size": 7, "dropout": dropout}
  return cls(cls.Config(vocabulary_size=11, **sizes))


def make_batch():
  """Three pictures, two right captions each, and two for each of two negatives."""
  batch = captioner_harness.make_batch(captions=N)
  wrong = captioner_harness.make_batch(captions=K * N, seed=1)["tokens"]
  return batch | {"negatives": tf.reshape(wrong, [3, K * N, -1])}


def make_trainer(model, reference, folder="", **options):
  config = contrastive.Contrast(negatives=K, **options)
  return contrastive.ContrastiveTrainer(model, reference, config, folder)


def ratios_of(model, reference, batch, tokens):
  of_target = likelihood.caption_log_probs(model, model.encode(batch), tokens)
  of_reference = likelihood.caption_log_probs(reference, reference.encode(batch), tokens)
  return (of_target - of_reference).numpy()


@pytest.mark.parametrize("passes", ["joint", "separate"])
def test_the_loss_is_the_papers_for_a_reference_of_another_architecture(passes):
  model, reference, batch = make_model(), make_model("updown", 2), make_batch()
  found = make_trainer(model, reference, passes=passes, nu=2.0).losses(batch, SEED)
  right = ratios_of(model, reference, batch, batch["tokens"])
  wrong = ratios_of(model, reference, batch, tf.reshape(batch["negatives"], [3 * K * N, -1]))
  expected = np.mean([-math.log(1 / (1 + 2 * math.exp(-g))) for g in right])
  np.testing.assert_allclose(found["positive"], expected, rtol=1e-4)
  total = 0.0
  for g in wrong:
    total -= math.log(1 - 1 / (1 + 2 * math.exp(-g)))
  np.testing.assert_allclose(found["negative"], total / len(wrong), rtol=1e-4)


def test_equal_models_without_dropout_lose_two_ln_two():
  trainer = make_trainer(make_model(), make_model())
  losses = trainer.losses(make_batch(), SEED)
  np.testing.assert_allclose(sum(losses.values()), 2 * math.log(2), rtol=1e-5)


def test_gradients_reach_the_target_alone():
  model, reference, batch = make_model(), make_model(start=2), make_batch()
  with tf.GradientTape(persistent=True) as tape:
    loss = sum(make_trainer(model, reference).losses(batch, SEED).values())
  found = tape.gradient(loss, [v.value for v in model.trainable_variables])
  assert max(np.abs(tf.convert_to_tensor(g)).max() for g in found if g is not None) > 0
  assert all(g is None for g in tape.gradient(loss, [v.value for v in reference.variables]))


def test_dropout_is_the_targets_and_separate_passes_draw_their_own():
  batch = make_batch()
  losses = [
    make_trainer(make_model(dropout=0.5), make_model(dropout=0.5), passes=passes).losses(
      batch, SEED
    )
    for passes in ("joint", "separate")
  ]
  assert abs(float(losses[0]["positive"]) - math.log(2)) > 0.01
  assert float(losses[0]["negative"]) != float(losses[1]["negative"])


def test_right_pairs_alone_need_no_negatives():
  batch = make_batch()
  del batch["negatives"]
  trainer = make_trainer(make_model(), make_model(start=2), terms="positive")
  assert list(trainer.losses(batch, SEED)) == ["positive"]


def test_introspective_learning_compares_the_target_with_itself_on_the_next_picture():
  batch = make_batch()
  model, reference = make_model("adaptive"), make_model(start=2)
  found = make_trainer(model, reference, terms="introspective").losses(batch, SEED)
  memory = model.encode(batch)
  other = {name: tf.roll(tensor, 1, axis=0) for name, tensor in memory.items()}
  own, wrong = (
    likelihood.caption_log_probs(model, seen, batch["tokens"]) for seen in (memory, other)
  )
  expected = tf.reduce_mean(tf.nn.softplus(wrong - own))
  assert set(found) == {"positive"}
  np.testing.assert_allclose(found["positive"], expected, rtol=1e-5)


def test_the_released_cross_setting_leaves_out_the_targets_end_and_late_words():
  model, reference, batch = make_model(), make_model(start=2), make_batch()
  long = tf.tile(tf.constant([[1 + n % 9 for n in range(18)] + [0]]), [6, 1])
  batch |= {"tokens": long}
  trainer = make_trainer(model, reference, counted="official_cross", terms="positive")
  early = (tf.range(19) < 16)[tf.newaxis] & (long > 0)
  of_target = likelihood.caption_log_probs(model, model.encode(batch), long, mask=early)
  of_reference = likelihood.caption_log_probs(reference, reference.encode(batch), long)
  expected = np.mean(np.log1p(np.exp(-(of_target - of_reference).numpy())))
  np.testing.assert_allclose(trainer.losses(batch, SEED)["positive"], expected, rtol=1e-5)


def weights(model):
  return [variable.numpy().copy() for variable in model.variables]


@pytest.mark.parametrize("source", ["last", "best"])
def test_the_reference_is_replaced_and_found_again_after_a_stop(tmp_path, source):
  model, best = make_model(start=1), make_model(start=3)
  checkpoints.save(checkpoints.best_path(tmp_path), model=best)
  trainer = make_trainer(model, make_model(start=2), tmp_path, replace_every=2, replace_with=source)
  before = weights(trainer.reference)
  trainer.begin_epoch(1)
  np.testing.assert_array_equal(weights(trainer.reference)[0], before[0])
  trainer.begin_epoch(2)
  expected = weights(model if source == "last" else best)
  for found, wanted in zip(weights(trainer.reference), expected, strict=True):
    np.testing.assert_array_equal(found, wanted)

  resumed = make_trainer(
    make_model(start=4), make_model(start=2), tmp_path, replace_every=2, replace_with=source
  )
  resumed.begin_epoch(3)  # The target has moved on since.
  for found, wanted in zip(weights(resumed.reference), expected, strict=True):
    np.testing.assert_array_equal(found, wanted)
  with pytest.raises(errors.UserError, match="epoch-00004 is missing"):
    resumed.begin_epoch(5)


def test_what_cannot_be_contrasted_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="same model with the same options"):
    make_trainer(make_model(), make_model("updown"), tmp_path, replace_every=1)
  with pytest.raises(errors.UserError, match=r"nu is 0\.0; expected above 0"):
    configs.check(contrastive.Contrast(nu=0.0))
  with pytest.raises(errors.UserError, match="negatives is 0; expected 1 or more"):
    configs.check(contrastive.Contrast(negatives=0))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("contrastive")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  return folder


def make_config(place, **options):
  chosen = {
    "start": str(place / "start"),
    "images": 6,
    "captions_per_image": 2,
    "epochs": 2,
    "contrast": contrastive.Contrast(negatives=2, replace_every=1),
    "schedule": schedules.ScheduleConfig("constant", 0.01),
  } | options
  return contrastive.ContrastiveTrainingConfig(**chosen)


def train(place, config, run):
  return contrastive.train(prepared_data.PreparedData(place / "data"), config, run)


def test_a_run_that_was_stopped_ends_as_one_that_was_not(place, tmp_path, capsys):
  config = make_config(place)
  train(place, config, tmp_path / "whole")
  assert f"reference: neuraltalk2 from {place / 'start'}" in capsys.readouterr().out
  train(place, dataclasses.replace(config, epochs=1), tmp_path / "halves")
  train(place, config, tmp_path / "halves")
  for whole, halves in zip(
    fine_tuned.weights(tmp_path / "whole", 4), fine_tuned.weights(tmp_path / "halves", 4),
    strict=True,
  ):  # fmt: skip
    np.testing.assert_array_equal(whole, halves)
  last = fine_tuned.lines(tmp_path / "whole")[-2]
  assert last["step"] == 4 and last["negative"] > 0 and last["positive"] > 0
  assert (tmp_path / "whole" / "reference" / "epoch-00001").exists()


def test_a_reference_of_other_words_is_refused(place, tmp_path):
  data = prepared_data.PreparedData(place / "data")
  other = fine_tuned.captioner(tmp_path / "other", data, min_count=30)
  with pytest.raises(errors.UserError, match="has another vocabulary"):
    train(place, make_config(place, reference=str(other)), tmp_path / "run")
  assert not (tmp_path / "run").exists()


def test_a_reference_of_other_regions_is_refused(place, tmp_path):
  data = prepared_data.PreparedData(place / "data")
  other = fine_tuned.captioner(tmp_path / "other", data, feature_size=5)
  with pytest.raises(errors.UserError, match="has regions of 8 features"):
    train(place, make_config(place, reference=str(other)), tmp_path / "run")
