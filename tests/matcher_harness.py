"""The contract of a matcher, checked on any of them: `check_matcher(make, batch)`."""

import tempfile

import keras
import numpy as np
import tensorflow as tf

from gcap_tf.losses import ranking
from gcap_tf.matchers import scoring


def example_batch(images=4, regions=6, feature_size=10, words=7, full=False):
  """A batch of pictures with 3 to `regions` regions and one caption each, ids below 10."""
  random = np.random.default_rng(0)
  corners = np.sort(random.uniform(size=(images, regions, 2, 2)), axis=2)
  counts = np.full(images, regions) if full else random.integers(3, regions + 1, images)
  lengths = random.integers(4, words + 1, images)
  slots = np.arange(words)
  tokens = random.integers(4, 10, (images, words))
  tokens[:, 0] = 1
  tokens[slots == lengths[:, None] - 1] = 2
  tokens[slots >= lengths[:, None]] = 0
  features = random.normal(size=(images, regions, feature_size)).astype(np.float32)
  region_mask = np.arange(regions) < counts[:, None]
  pooled = (features * region_mask[..., None]).sum(1) / region_mask.sum(1, keepdims=True)
  return {
    "features": tf.constant(features),
    "boxes": tf.constant(corners.reshape(images, regions, 4).astype(np.float32)),
    "region_mask": tf.constant(region_mask),
    "global_feature": tf.constant(pooled.astype(np.float32)),
    "tokens": tf.constant(tokens, tf.int32),
    "token_mask": tf.constant(tokens > 0),
    "noun_mask": tf.constant((tokens > 6) & (tokens % 2 == 0)),
    "image_id": tf.constant([f"picture {i}" for i in range(images)]),
  }


def small(cls, **options):
  """A matcher of 10 words and small sizes that reads `example_batch`."""
  sizes = {"vocabulary_size": 10, "feature_size": 10, "word_size": 5, "joint_size": 8}
  return cls(cls.Config(**{**sizes, **options}))


def similarity(matcher, batch):
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  return matcher.similarity(images, captions).numpy()


def check_matcher(make, batch, permutes=True):
  """Runs every check.

  Args:
    make: builds a matcher.
    batch: what it reads.
    permutes: whether the order of regions does not matter to it.
  """
  matcher = make()
  check_shapes(matcher, batch)
  check_chosen_pairs(matcher, batch)
  check_padding(matcher, batch)
  if matcher.attends:
    check_attention(matcher, batch)
    check_fragments(matcher, batch)
  if permutes:
    check_permutation(matcher, batch)
  check_gradients(matcher, batch)
  check_weights_travel(make, batch)
  check_call(matcher, batch)
  check_summary(make())
  check_keras_file(make(), batch)


def check_shapes(matcher, batch):
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  for name in ("regions", "region_mask"):
    assert name in images
  for name in ("words", "word_mask", "noun_mask"):
    assert name in captions
  scores = matcher.similarity(images, captions)
  assert scores.shape == (batch["features"].shape[0], batch["tokens"].shape[0])
  assert scores.dtype == tf.float32
  assert np.isfinite(scores).all()


def check_chosen_pairs(matcher, batch):
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  scores = matcher.similarity(images, captions).numpy()
  i, c = np.indices(scores.shape).reshape(2, -1)
  pairs = matcher.pair_similarity(images, captions, tf.constant(i), tf.constant(c)).numpy()
  np.testing.assert_allclose(pairs, scores.ravel(), atol=2e-6)
  np.testing.assert_allclose(
    scoring.score_pairs(matcher, batch)["similarity"], np.diag(scores), atol=2e-6
  )


def check_attention(matcher, batch):
  attention = scoring.score_pairs(matcher, batch)["attention"].numpy()
  region_mask, token_mask = batch["region_mask"].numpy(), batch["token_mask"].numpy()
  assert attention.shape == (*token_mask.shape, region_mask.shape[1])
  assert (attention >= 0).all()
  assert not attention[~np.broadcast_to(region_mask[:, None], attention.shape)].any()
  assert not attention[~token_mask].any()
  sums = attention.sum(-1)
  attended = sums > 0
  np.testing.assert_allclose(sums[attended], 1.0, atol=1e-5)
  assert attended.any(1).all()


def check_fragments(matcher, batch):
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  for fragments in matcher.fragments(images, captions):
    weights = fragments.weights.numpy()
    rows = fragments.eligible.numpy()
    np.testing.assert_allclose(weights.sum(-1)[rows], 1.0, atol=1e-5)
    padding = np.broadcast_to(~fragments.key_mask.numpy()[:, None], weights.shape)
    assert not weights[padding].any()
    assert fragments.affinities.shape == weights.shape


def check_padding(matcher, batch):
  """More padding, whatever it holds, changes no score."""
  wider = dict(batch)
  for name, extra, filler in (("tokens", 3, 0), ("token_mask", 3, False), ("noun_mask", 3, False)):
    wider[name] = tf.pad(batch[name], [[0, 0], [0, extra]], constant_values=filler)
  for name in ("features", "boxes"):
    rubbish = 7.0 * tf.ones_like(batch[name][:, :2])
    wider[name] = tf.concat([batch[name], rubbish], 1)
  wider["region_mask"] = tf.pad(batch["region_mask"], [[0, 0], [0, 2]])
  np.testing.assert_allclose(similarity(matcher, wider), similarity(matcher, batch), atol=2e-6)


def check_permutation(matcher, batch):
  order = np.random.default_rng(1).permutation(batch["features"].shape[1])
  permuted = dict(batch)
  for name in ("features", "boxes", "region_mask"):
    permuted[name] = tf.gather(batch[name], order, axis=1)
  np.testing.assert_allclose(similarity(matcher, permuted), similarity(matcher, batch), atol=2e-6)
  if matcher.attends:
    before = scoring.score_pairs(matcher, batch)["attention"].numpy()
    after = scoring.score_pairs(matcher, permuted)["attention"].numpy()
    np.testing.assert_allclose(after, before[..., order], atol=2e-6)


def check_gradients(matcher, batch):
  """A finite gradient reaches every weight; it is not zero for nearly all of them."""
  with tf.GradientTape() as tape:
    seed = tf.constant([1, 2])
    images, captions = matcher.encode_images(batch, seed), matcher.encode_captions(batch, seed)
    scores = matcher.similarity(images, captions, training=True)
    loss = tf.reduce_sum(
      scores * tf.range(tf.size(scores), dtype=tf.float32)[None, : scores.shape[1]]
    )
  weights = matcher.trainable_variables
  for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
    assert gradient is not None, f"{weight.path} has no gradient"
    assert np.isfinite(tf.convert_to_tensor(gradient)).all(), f"{weight.path}: not finite"


def check_weights_travel(make, batch):
  """A second matcher with the first one's checkpoint gives the same scores."""
  first, second = make(), make()
  expected = similarity(first, batch)
  assert np.abs(similarity(second, batch) - expected).max() > 1e-7
  with tempfile.TemporaryDirectory() as folder:
    path = tf.train.Checkpoint(model=first).write(f"{folder}/state")
    tf.train.Checkpoint(model=second).read(path).assert_existing_objects_matched()
  for one, other in zip(first.weights, second.weights, strict=True):
    np.testing.assert_array_equal(one.numpy(), other.numpy(), err_msg=one.path)
  np.testing.assert_allclose(similarity(second, batch), expected, atol=1e-6)


def check_call(matcher, batch):
  """`model(batch)` gives the scores of all pairs; training changes no shape."""
  np.testing.assert_array_equal(matcher(batch), similarity(matcher, batch))
  scores = matcher(batch, training=True)
  assert scores.shape == (batch["features"].shape[0], batch["tokens"].shape[0])


def check_summary(matcher):
  """Every weight exists before the first call, and every layer has its shape."""
  printed = []
  matcher.summary(print_fn=printed.append, line_length=120)
  lines = "".join(printed).splitlines()
  rows = [line for line in lines if line.startswith("│")]
  assert len(rows) == len(matcher.layers)
  assert not [row for row in rows if "?" in row]
  assert any(f"Total params: {matcher.count_params():,} " in line for line in lines)


def check_keras_file(matcher, batch):
  """A matcher that was never called gives the same scores after `save` and `load_model`."""
  with tempfile.TemporaryDirectory() as folder:
    matcher.save(f"{folder}/m.keras")
    loaded = keras.models.load_model(f"{folder}/m.keras")
    assert type(loaded) is type(matcher)
    assert (loaded.config, loaded.name) == (matcher.config, matcher.name)
    for one, other in zip(matcher.variables, loaded.variables, strict=True):
      np.testing.assert_array_equal(one, other, err_msg=one.path)
    np.testing.assert_array_equal(loaded(batch), matcher(batch))
    loaded.save(f"{folder}/called.keras")
    again = keras.models.load_model(f"{folder}/called.keras")
    np.testing.assert_array_equal(again(batch), matcher(batch))
  made = type(matcher).from_config(matcher.get_config())
  assert made.config == matcher.config


def check_fit(matcher, batch):
  """A step of `fit` on our batch follows the gradient of the ranking loss."""
  rate = 0.1
  with tf.GradientTape() as tape:
    scores = matcher(batch, training=True)
    loss = ranking.triplet(scores, tf.range(scores.shape[1]))
  weights = matcher.trainable_variables
  expected = [
    weight.numpy() - rate * tf.convert_to_tensor(gradient).numpy()
    for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True)
  ]
  matcher.compile(keras.optimizers.SGD(rate))
  history = matcher.fit(tf.data.Dataset.from_tensors(batch), verbose=0).history
  np.testing.assert_allclose(history["loss"], [loss], rtol=1e-5)
  for weight, value in zip(weights, expected, strict=True):
    np.testing.assert_allclose(weight, value, atol=1e-5, err_msg=weight.path)
