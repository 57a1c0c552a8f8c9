import numpy as np
import tensorflow as tf

from gcap_tf.captioners import adaptive
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def make(**options):
  captioner_harness.fix_start()
  sizes = {"vocabulary_size": 11, "embedding_size": 8, "hidden_size": 10, "feature_size": 7}
  return adaptive.AdaptiveCaptioner(adaptive.AdaptiveConfig(**(sizes | options)))


def test_keeps_the_contract():
  captioner_harness.check_captioner(make, BATCH)


def test_keeps_the_contract_on_labels_alone():
  batch = captioner_harness.make_batch(features=0)
  captioner_harness.check_captioner(lambda: make(feature_size=0, num_labels=4, label_size=5), batch)


def test_one_step_restates_the_equations():
  """The second word of a caption of the first picture, number by number."""
  model = make()
  memory = model.encode(BATCH)
  outputs = model.teacher_force(memory, BATCH["tokens"])
  affine = lambda layer, x: x @ layer.kernel.numpy() + layer.bias.numpy()  # noqa: E731
  sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
  relu = lambda x: np.maximum(x, 0)  # noqa: E731
  h = c = np.zeros(10)
  regions = memory["regions"].numpy()[0, :3]
  overall = BATCH["features"].numpy()[0, :3].mean(0)
  picture = relu(affine(model.encode_picture, overall))
  for t, token in enumerate([0, int(BATCH["tokens"][0, 0])]):
    x, before = relu(model.words.embeddings.numpy()[token]), h
    gates = picture @ model.lstm.input_kernels[0].numpy() + x @ model.lstm.input_kernels[1].numpy()
    gates = gates + h @ model.lstm.step_kernel.numpy() + model.lstm.bias.numpy()
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    gate = affine(model.gate_word, x) + affine(model.gate_picture, picture)
    gate = gate + affine(model.gate_state, before)
    s = relu(affine(model.turn_sentinel, sigmoid(gate) * np.tanh(c)))
    turned = np.tanh(affine(model.turn_state, h))
    keys = [affine(model.attention_sentinel, s)]
    keys += [affine(model.attention_region, region) for region in regions]
    asked = affine(model.attention_state, turned)
    z = np.array([affine(model.attention_score, np.tanh(key + asked))[0] for key in keys])
    pi = np.exp(z) / np.exp(z).sum()
    context = pi[0] * s + pi[1:] @ regions
    hidden = np.tanh(affine(model.mix, context + turned))
    np.testing.assert_allclose(
      outputs["logits"][0, t], affine(model.word_output, hidden), atol=1e-4
    )
    np.testing.assert_allclose(outputs["sentinel"][0, t], pi[0], atol=1e-5)
    found = outputs["attention"][0, t, 0, :3]
    np.testing.assert_allclose(found, pi[1:] / pi[1:].sum(), atol=1e-5)


def test_attention_survives_a_sentinel_that_takes_all():
  model = make()
  model.attention_sentinel.bias.assign(tf.ones([10]) * 1e3)
  outputs = model.teacher_force(model.encode(BATCH), BATCH["tokens"])
  np.testing.assert_allclose(tf.reduce_sum(outputs["attention"], -1), 1.0, atol=1e-5)
