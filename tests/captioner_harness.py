"""The captioner contract, checked for any captioner on any batch."""

import dataclasses
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf

SEED = np.array([3, 5], np.int32)


def fix_start():
  """Weights made after this call are the same in every run."""
  keras.utils.set_random_seed(1)


def make_batch(
  pictures=3, captions=2, regions=5, features=7, words=6, vocabulary=11, labels=4, seed=0
):
  """A random batch in the captioner layout; the first picture has two padding regions."""
  rng = np.random.default_rng(seed)
  region_mask = np.ones((pictures, regions), bool)
  region_mask[0, regions - 2 :] = False
  lengths = rng.integers(2, words, size=pictures * captions)
  tokens = np.zeros((pictures * captions, words), np.int32)
  for row, length in enumerate(lengths):
    tokens[row, :length] = rng.integers(1, vocabulary, size=length)
  token_mask = np.arange(words) <= lengths[:, None]
  noun_mask = (np.arange(words) < lengths[:, None]) & (rng.uniform(size=tokens.shape) < 0.6)
  corners = np.sort(rng.uniform(size=(pictures, regions, 2, 2)), axis=2)
  overlap = rng.uniform(size=(*tokens.shape, regions)) * noun_mask[..., None]
  overlap *= np.repeat(region_mask, captions, 0)[:, None]
  boxes = corners.reshape(pictures, regions, 4)
  inputs = rng.normal(size=(pictures, regions, features)) * region_mask[..., None]
  return {
    "features": tf.constant(inputs, tf.float32),
    "boxes": tf.constant(boxes * region_mask[..., None], tf.float32),
    "region_mask": tf.constant(region_mask),
    "region_labels": tf.constant(
      rng.integers(1, labels + 1, size=(pictures, regions)) * region_mask, tf.int32
    ),
    "frame": tf.zeros([pictures, regions], tf.int32),
    "global_feature": tf.constant(rng.normal(size=(pictures, features)), tf.float32),
    "image_size": tf.constant([[640.0, 480.0]] * pictures),
    "tokens": tf.constant(tokens),
    "token_mask": tf.constant(token_mask),
    "noun_mask": tf.constant(noun_mask),
    "target_regions": tf.constant(overlap, tf.float32),
    "example_mask": tf.ones([pictures], tf.bool),
  }


def pad_regions(batch, extra=3):
  """The same pictures with more padding, filled with what must not matter."""
  padded = dict(batch)
  for key, junk in (("features", 9.0), ("boxes", 0.7), ("region_labels", 1), ("frame", 0)):
    width = [[0, 0], [0, extra], *([[0, 0]] * (batch[key].shape.rank - 2))]
    padded[key] = tf.pad(batch[key], width, constant_values=junk)
  padded["region_mask"] = tf.pad(batch["region_mask"], [[0, 0], [0, extra]])
  return padded


def permute_regions(batch, order):
  keys = ("features", "boxes", "region_mask", "region_labels", "frame")
  return batch | {key: tf.gather(batch[key], order, axis=1) for key in keys}


def check_captioner(make, batch, looks=True, unused=()):
  """Runs the whole contract.

  Args:
    make: () -> a captioner for the batch.
    batch: what `make_batch` gives.
    looks: whether the captioner attends (else its attention is uniform).
    unused: parts of names of weights that captions alone do not reach.
  """
  model = make()
  check_shapes_and_attention(model, batch)
  check_step_equals_teacher_force(model, batch)
  check_padding_and_order(model, batch)
  check_captions_do_not_mix(model, batch)
  check_gradients(model, batch, looks, unused)
  check_weights_exist_from_the_start(make, model)
  check_keras_model(make, batch)
  check_overfits(make(), batch)


def check_shapes_and_attention(model, batch):
  memory = model.encode(batch)
  outputs = model.teacher_force(memory, batch["tokens"])
  rows, words = batch["tokens"].shape
  regions = batch["region_mask"].shape[1]
  assert outputs["logits"].shape == (rows, words, model.config.vocabulary_size)
  attention = outputs["attention"].numpy()
  assert attention.shape[:2] == (rows, words) and attention.shape[3] == regions
  np.testing.assert_allclose(attention.sum(-1), 1.0, atol=1e-5)
  per_picture = rows // batch["region_mask"].shape[0]
  padding = ~np.repeat(batch["region_mask"].numpy(), per_picture, 0)
  assert padding.any()
  assert (attention.transpose(0, 3, 1, 2)[padding] == 0).all()


def check_step_equals_teacher_force(model, batch):
  """With and without dropout, and with several captions of a picture at once."""
  tokens = batch["tokens"]
  for seed in (None, SEED):
    memory = model.encode(batch, seed)
    expected = model.teacher_force(memory, tokens, seed)
    per_picture = tokens.shape[0] // batch["region_mask"].shape[0]
    state = tf.nest.map_structure(
      lambda x, n=per_picture: tf.repeat(x, n, 0), model.initial_state(memory)
    )
    before = tf.zeros_like(tokens[:, 0])
    for t in range(tokens.shape[1]):
      now = None if seed is None else tf.random.experimental.stateless_fold_in(seed, t)
      emitted = model.step(memory, state, before, now)
      np.testing.assert_allclose(emitted["logits"], expected["logits"][:, t], atol=2e-5)
      np.testing.assert_allclose(emitted["attention"], expected["attention"][:, t], atol=2e-5)
      state, before = emitted["state"], tokens[:, t]


def check_padding_and_order(model, batch):
  tokens = batch["tokens"]
  expected = model.teacher_force(model.encode(batch), tokens)
  padded = model.teacher_force(model.encode(pad_regions(batch)), tokens)
  np.testing.assert_allclose(padded["logits"], expected["logits"], atol=2e-5)
  order = np.random.default_rng(0).permutation(batch["region_mask"].shape[1])
  moved = model.teacher_force(model.encode(permute_regions(batch, order)), tokens)
  np.testing.assert_allclose(moved["logits"], expected["logits"], atol=2e-5)
  np.testing.assert_allclose(
    moved["attention"], tf.gather(expected["attention"], order, axis=3), atol=2e-5
  )


def check_captions_do_not_mix(model, batch):
  """The first picture's captions do not depend on the other pictures."""
  tokens = batch["tokens"]
  per_picture = tokens.shape[0] // batch["region_mask"].shape[0]
  expected = model.teacher_force(model.encode(batch), tokens)
  keys = ("features", "boxes", "region_mask", "region_labels", "frame", "global_feature")
  alone = batch | {key: batch[key][:1] for key in keys}
  outputs = model.teacher_force(model.encode(alone), tokens[:per_picture])
  np.testing.assert_allclose(outputs["logits"], expected["logits"][:per_picture], atol=2e-5)


def word_loss(model, batch, seed=None):
  outputs = model.teacher_force(model.encode(batch, seed), batch["tokens"], seed)
  loss = tf.nn.sparse_softmax_cross_entropy_with_logits(batch["tokens"], outputs["logits"])
  return tf.reduce_mean(tf.boolean_mask(loss, batch["token_mask"]))


def check_gradients(model, batch, looks, unused):
  with tf.GradientTape() as tape:
    loss = word_loss(model, batch)
  variables = model.trainable_variables
  for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
    # A constant added to every score leaves a softmax as it was.
    idle = ("score_bias", "attention_score/bias", *unused)
    if any(part in variable.path for part in idle):
      continue
    assert gradient is not None, variable.path
    assert np.abs(tf.convert_to_tensor(gradient)).max() > 0, variable.path
  assert looks == any("attention_" in variable.path for variable in variables)


def check_weights_exist_from_the_start(make, used):
  assert [v.shape for v in make().variables] == [v.shape for v in used.variables]


def check_keras_model(make, batch):
  """Call, config, summary, fit, and a saved file that gives the same outputs bit by bit."""
  model = make()
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.keras"
    model.save(path)  # Never called so far.
    loaded = keras.models.load_model(path)
  assert type(loaded) is type(model) and loaded.config == model.config
  assert [v.path for v in loaded.variables] == [v.path for v in model.variables]
  expected = model(batch)
  forced = model.teacher_force(model.encode(batch), batch["tokens"])
  assert set(expected) == set(forced) >= {"logits", "attention", "hidden", "winners"}
  for name, value in loaded(batch).items():
    np.testing.assert_array_equal(value, expected[name], err_msg=name)
    np.testing.assert_array_equal(forced[name], expected[name], err_msg=name)
  check_summary(model)
  check_fit(loaded, batch)


def check_summary(model):
  lines = []
  model.summary(print_fn=lines.append, line_length=120, expand_nested=True)
  text = "\n".join(lines)
  assert "?" not in text and "unbuilt" not in text, text
  assert "word_output" in text and f"{model.config.vocabulary_size})" in text, text


def check_fit(model, batch):
  """A few steps of `fit` with dropout lower the loss that `evaluate` reports."""
  data = tf.data.Dataset.from_tensors(batch)
  model.compile(optimizer=keras.optimizers.Adam(0.02))
  before = model.evaluate(data, verbose=0, return_dict=True)["loss"]
  expected = model.word_loss(model(batch), batch["tokens"], batch["token_mask"])
  np.testing.assert_allclose(before, expected, rtol=1e-4)
  model.fit(data.repeat(8), verbose=0)
  assert model.evaluate(data, verbose=0, return_dict=True)["loss"] < before


def check_overfits(model, batch, steps=200):
  """Eight captions or fewer are learned by heart."""
  model.config = dataclasses.replace(model.config, dropout=0.0)
  rows = min(8, batch["tokens"].shape[0])
  variables = [variable.value for variable in model.trainable_variables]
  slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

  @tf.function(autograph=False)
  def step(t):
    with tf.GradientTape() as tape:
      loss = word_loss(model, batch)
    gradients = tape.gradient(loss, variables)
    for variable, (m, v), gradient in zip(variables, slots, gradients, strict=True):
      if gradient is None:
        continue
      gradient = tf.convert_to_tensor(gradient)
      m.assign(0.9 * m + 0.1 * gradient)
      v.assign(0.99 * v + 0.01 * tf.square(gradient))
      m_hat, v_hat = m / (1.0 - 0.9**t), v / (1.0 - 0.99**t)
      variable.assign_sub(0.02 * m_hat / (tf.sqrt(v_hat) + 1e-8))
    return loss

  losses = [float(step(tf.constant(float(t)))) for t in range(1, steps + 1)]
  assert rows and min(losses[-10:]) < 0.1 * losses[0], (losses[0], losses[-1])
