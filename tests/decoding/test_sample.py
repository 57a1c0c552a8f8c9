import dataclasses

import numpy as np
import tensorflow as tf

from gcap_tf.captioners import updown
from gcap_tf.decoding import config, sample
from tests import captioner_harness
from tests.decoding import tiny

COIN = tiny.table({0: {1: 0.25, 2: 0.75}, 1: {0: 1.0}, 2: {0: 1.0}}, 4)
SEED = tf.constant([4, 2])


def test_words_come_as_often_as_their_probability():
  options = config.DecodeConfig(samples=2000, max_length=3)
  decoded = sample.decode(tiny.Script([COIN]), tiny.memory(), options, SEED)
  share = (decoded["tokens"].numpy()[:, 0] == 1).mean()
  assert abs(share - 0.25) < 0.03
  ones = decoded["tokens"].numpy()[:, 0] == 1
  np.testing.assert_allclose(decoded["token_log_prob"].numpy()[ones, 0], np.log(0.25), atol=1e-3)


def test_low_temperature_sharpens_the_draw_but_not_the_log_probability():
  # p^2 normalised: 0.0625 / (0.0625 + 0.5625) = 0.1
  options = config.DecodeConfig(samples=2000, max_length=3, temperature=0.5)
  decoded = sample.decode(tiny.Script([COIN]), tiny.memory(), options, SEED)
  first = decoded["tokens"].numpy()[:, 0]
  assert abs((first == 1).mean() - 0.1) < 0.025
  found = decoded["token_log_prob"].numpy()[first == 1, 0]
  np.testing.assert_allclose(found, np.log(0.25), atol=1e-3)


def test_samples_of_a_picture_lie_together_and_seeds_repeat():
  options = config.DecodeConfig(samples=3, max_length=3)
  memory = tiny.memory(pictures=2)
  memory["boxes"] += tf.constant([[[0.0]], [[1.0]]])
  runs = [sample.decode(tiny.Script([COIN]), memory, options, SEED) for _ in range(2)]
  assert runs[0]["tokens"].shape == (6, 3)
  np.testing.assert_array_equal(runs[0]["tokens"], runs[1]["tokens"])
  assert (runs[0]["box"].numpy()[:3, 0] < 1).all() and (runs[0]["box"].numpy()[3:, 0] >= 1).all()
  other = sample.decode(
    tiny.Script([COIN]), memory, config.DecodeConfig(samples=50, max_length=3), SEED + 1
  )
  assert len(set(other["tokens"].numpy()[:, 0])) == 2


def test_teacher_forcing_repeats_the_log_probabilities_of_a_noisy_sample():
  batch = captioner_harness.make_batch()
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  model = updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, **sizes))
  memory = model.encode(batch, SEED)
  options = config.DecodeConfig(samples=4, max_length=7)
  drawn = sample.decode(model, memory, options, SEED + 5, noise_seed=SEED)
  outputs = model.teacher_force(memory, drawn["tokens"], SEED)
  log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(drawn["tokens"], outputs["logits"])
  counted = drawn["token_log_prob"].numpy() != 0
  assert counted.sum() > 12
  np.testing.assert_allclose(
    log_prob.numpy()[counted], drawn["token_log_prob"].numpy()[counted], atol=1e-5
  )


def test_words_alone_are_those_with_details():
  options = config.DecodeConfig(samples=3, max_length=3)
  whole = sample.decode(tiny.Script([COIN]), tiny.memory(2), options, SEED)
  short = dataclasses.replace(options, details=False)
  words = sample.decode(tiny.Script([COIN]), tiny.memory(2), short, SEED)
  assert set(words) == {"tokens", "length"}
  for name, value in words.items():
    np.testing.assert_array_equal(value, whole[name])
