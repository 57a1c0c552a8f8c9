import numpy as np

from gcap_tf.captioners import neuraltalk2
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def make(**options):
  captioner_harness.fix_start()
  sizes = {"vocabulary_size": 11, "embedding_size": 8, "hidden_size": 10, "feature_size": 7}
  return neuraltalk2.Neuraltalk2Captioner(neuraltalk2.Neuraltalk2Config(**(sizes | options)))


def test_keeps_the_contract():
  captioner_harness.check_captioner(make, BATCH, looks=False)


def test_keeps_the_contract_on_labels_alone():
  batch = captioner_harness.make_batch(features=0)
  captioner_harness.check_captioner(
    lambda: make(feature_size=0, num_labels=4, label_size=5), batch, looks=False
  )


def test_attention_is_even_over_real_regions():
  model = make()
  attention = model.teacher_force(model.encode(BATCH), BATCH["tokens"])["attention"]
  np.testing.assert_allclose(attention[0, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0], atol=1e-6)
  np.testing.assert_allclose(attention[-1, 2, 0], [0.2] * 5, atol=1e-6)


def test_the_picture_comes_first_and_its_output_is_not_used():
  """Two steps by hand: the picture, then the start of the sentence."""
  model = make()
  logits = model.teacher_force(model.encode(BATCH), BATCH["tokens"])["logits"]
  overall = BATCH["features"].numpy()[1].mean(0)
  kernel = model.encode_picture.kernel.numpy()
  picture = np.maximum(overall @ kernel + model.encode_picture.bias.numpy(), 0)
  h = c = np.zeros(10)
  sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
  for x in (picture, model.words.embeddings.numpy()[0]):
    gates = x @ model.lstm.input_kernels[0].numpy() + h @ model.lstm.step_kernel.numpy()
    i, f, g, o = np.split(gates + model.lstm.bias.numpy(), 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
  expected = h @ model.word_output.kernel.numpy() + model.word_output.bias.numpy()
  np.testing.assert_allclose(logits[2, 0], expected, atol=1e-4)
