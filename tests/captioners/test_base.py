import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import adaptive, base, gvd, neuraltalk2, updown
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def make(model=neuraltalk2.Neuraltalk2Captioner, **options):
  captioner_harness.fix_start()
  sizes = {"vocabulary_size": 11, "feature_size": 7, "embedding_size": 8, "hidden_size": 9}
  return model(model.Config(**(sizes | options)))


def test_repeat_keeps_the_copies_of_a_picture_together():
  memory = {"regions": tf.constant([[1.0], [2.0]]), "mask": tf.constant([True, False])}
  repeated = base.repeat(memory, 2)
  np.testing.assert_array_equal(repeated["regions"], [[1.0], [1.0], [2.0], [2.0]])
  np.testing.assert_array_equal(repeated["mask"], [True, True, False, False])


def test_the_word_before_the_first_is_the_end_of_a_sentence():
  tokens = tf.constant([[4, 5, 0], [6, 0, 0]])
  np.testing.assert_array_equal(base.words_before(tokens), [[0, 4, 5], [0, 6, 0]])


def test_a_call_in_training_draws_dropout_from_the_seed_alone():
  model = make()
  clean, seed = model(BATCH)["logits"], tf.constant([1, 2])
  noisy, again, other = (
    model(BATCH, training=True, seed=s)["logits"].numpy() for s in (seed, seed, seed + 1)
  )
  np.testing.assert_array_equal(noisy, again)
  assert np.abs(noisy - clean).max() > 0 and np.abs(noisy - other).max() > 0
  np.testing.assert_array_equal(model(BATCH, training=False, seed=seed)["logits"], clean)


def test_a_call_takes_the_names_of_pictures_and_captions_that_batches_have():
  names = {"image_id": tf.constant(["a", "b", "c"]), "caption_id": tf.constant(list("uvwxyz"))}
  np.testing.assert_array_equal(make()(BATCH | names)["logits"], make()(BATCH)["logits"])


def test_every_step_of_fit_draws_other_masks():
  model = make()
  model.compile(optimizer=keras.optimizers.SGD(0.0))
  losses = []
  log = keras.callbacks.LambdaCallback(on_train_batch_end=lambda _, logs: losses.append(logs))
  data = tf.data.Dataset.from_tensors(BATCH).repeat(2)
  model.fit(data, verbose=0, callbacks=[log])
  # The second value is the mean of both steps: it differs if the masks differ.
  assert losses[0]["loss"] != losses[1]["loss"]


def test_word_loss_is_the_mean_over_masked_words():
  model = make()
  loss = model.word_loss(model(BATCH), BATCH["tokens"], BATCH["token_mask"])
  np.testing.assert_allclose(loss, captioner_harness.word_loss(model, BATCH), rtol=1e-5)


def test_the_contract_says_what_a_captioner_can_do():
  plain, up_down = make(), make(updown.UpDownCaptioner, branches=3)
  assert (plain.branches, plain.num_classes, plain.optional_outputs) == (1, 0, ())
  assert not plain.takes_scheduled_sampling and not plain.has_localizer
  assert up_down.branches == 3 and "scores" in up_down.optional_outputs
  assert up_down.takes_scheduled_sampling
  assert make(gvd.GVDCaptioner, num_classes=4).num_classes == 4


def test_unknown_words_are_treated_as_the_released_programs_do():
  assert make().unknown_words == "allow"
  assert make(num_labels=4).unknown_words == "suppress"
  assert make(gvd.GVDCaptioner, num_labels=4).unknown_words == "second_best"


@pytest.mark.parametrize("model", [adaptive.AdaptiveCaptioner, neuraltalk2.Neuraltalk2Captioner])
def test_options_that_a_captioner_does_not_take_are_refused_in_one_line(model):
  captioner = make(model)
  memory = captioner.encode(BATCH)
  with pytest.raises(errors.UserError, match="does not take scheduled sampling"):
    captioner.teacher_force(memory, BATCH["tokens"], scheduled_sampling=tf.constant(0.5))
  with pytest.raises(errors.UserError, match="cannot return scores"):
    captioner.teacher_force(memory, BATCH["tokens"], extras=("scores",))
