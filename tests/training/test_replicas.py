"""Two replicas of half a batch learn what one of the whole does: every trainer, every loss."""
# bazel: size = "medium"  # Splits the CPU into logical devices: alone in its process.

import contextlib
import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import catalog
from gcap_tf.decoding import sample, single
from gcap_tf.matchers import catalog as matcher_catalog
from gcap_tf.rewards import weighted
from gcap_tf.text import vocabulary
from gcap_tf.training import (
  batch_shares,
  loss_options,
  optimizers,
  replicas,
  strategies,
  update_step,
)
from gcap_tf.training.methods import captioning, contrastive, matching, self_critical
from tests import captioner_harness, matcher_harness

PICTURES = 4
WORDS = vocabulary.Vocabulary(
  "captioner", ("", "dog", "dogs", "ball", "a", "the", "on", "red", "sits", "two", "UNK"),
  labels=("dog", "ball", "cat"),
)  # fmt: skip
SMALL = {"vocabulary_size": 11, "feature_size": 7, "embedding_size": 8, "hidden_size": 10}
REGIONS = {"attention_size": 6, "region_size": 9, "location_size": 8}


@pytest.fixture(scope="module")
def strategy():
  """Two logical CPUs; graphs that run once are not worth optimising."""
  chosen = strategies.make(replicas=2)
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
  yield chosen
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


@contextlib.contextmanager
def op_by_op(wanted: bool = True):
  """Steps run without being compiled, where TensorFlow can do without."""
  tf.config.run_functions_eagerly(wanted)
  yield
  tf.config.run_functions_eagerly(False)


def captions_batch() -> dict[str, tf.Tensor]:
  batch = captioner_harness.make_batch(pictures=PICTURES)
  rng = np.random.default_rng(1)
  teacher = rng.dirichlet(np.ones(5), size=batch["tokens"].shape)
  teacher *= batch["noun_mask"].numpy()[..., None]
  wrong = captioner_harness.make_batch(pictures=PICTURES, captions=4, seed=1)["tokens"]
  return batch | {
    "teacher_attention": tf.constant(teacher, tf.float32),
    "teacher_words": batch["noun_mask"],
    "negatives": tf.reshape(wrong, [PICTURES, 4, -1]),
    "image_id": tf.constant([f"picture {n}" for n in range(PICTURES)]),
  }


def matcher(name: str, losses: dict | None = None, **options):
  def make():
    model = matcher_harness.small(matcher_catalog.MATCHERS.get(name), **options)
    return matching.MatchingTrainer(model, matching.MatchingLosses(**(losses or {})))

  return make, lambda: matcher_harness.example_batch(images=PICTURES)


def small_captioner(name: str, options: dict):
  cls = catalog.CAPTIONERS.get(name)
  return cls(cls.Config(**SMALL, dropout=0.0, **options))


def captioner(name: str, losses: dict, **options):
  def make():
    config = loss_options.CaptioningLosses(**losses)
    return captioning.CaptioningTrainer(small_captioner(name, options), config, WORDS)

  return make, captions_batch


class Oddness:
  """A reward that differs between captions: the sum of their odd ids, a tenth each."""

  def score(self, captions, images):
    return np.where(captions % 2 == 1, captions, 0).sum(1) / 10.0


def scst(baseline: str):
  def make():
    config = self_critical.SampledCaptions(baseline, samples=3, max_length=5)
    rewards = weighted.WeightedSum({"cider": 1.0}, {"cider": Oddness()})
    return self_critical.ScstTrainer(small_captioner("neuraltalk2", {}), config, rewards)

  return make, captions_batch


def contrasted(**options):
  def make():
    config = contrastive.Contrast(negatives=2, **options)
    target, reference = (small_captioner("neuraltalk2", {}) for _ in range(2))
    return contrastive.ContrastiveTrainer(target, reference, config, "")

  return make, captions_batch


CONSTRAINTS = {"ccr_weight": 1.0, "ccs_weight": 1.0, "constrained_queries": "all"}
TAUGHT = {"distill_weight": 0.5, "box_supervision": "nll"}
CYCLE = {"reconstruction_weight": 0.5, "consistency_weight": 0.5, "box_supervision": "kl"}
GROUNDED = {
  "attention_weight": 0.1, "grounding_weight": 0.1, "classification_weight": 0.1,
  "box_supervision": "extend_nll",
}  # fmt: skip
SGRAF = {"similarity_size": 4, "dropout_rate": 0.0, "regions": 6}
CASES = {
  "scan": matcher("scan", CONSTRAINTS),
  "scan, all negatives": matcher("scan", {"negatives": "sum", "exclude_same_image": True}),
  "sgraf SGR": matcher("sgraf", CONSTRAINTS, head="SGR", reasoning_steps=2, **SGRAF),
  "sgraf SAF": matcher("sgraf", head="SAF", **SGRAF),
  "updown": captioner("updown", TAUGHT, attention_size=6, batch_norms=2),
  "gvd": captioner("gvd", GROUNDED, num_classes=3, **REGIONS),
  "cyclical": captioner("cyclical", CYCLE, **REGIONS),
  "distributed": captioner("distributed", {"distill_weight": 0.5}, branches=2, **REGIONS),
  "adaptive": captioner("adaptive", {"label_smoothing": 0.1}),
  "neuraltalk2": captioner("neuraltalk2", {}),
  "scst": scst("greedy"),
  "scst of others": scst("mean_of_others"),
  "contrastive": contrasted(),
}
# Matchers that are trained as SCAN is: a minute, so only where they are asked for.
FURTHER = {
  "scan i2t": matcher("scan", {"negatives": "sum"}, direction="i2t"),
  "pos_scan": matcher("pos_scan"),
  "bfan": matcher("bfan", CONSTRAINTS),
  "pfan": matcher("pfan", CONSTRAINTS, position_size=4),
  "vsepp": matcher("vsepp"),
}
if os.environ.get("GCAP_EVERY_MODEL"):
  CASES |= FURTHER


def draw_alike(captioner, memory, config, seed, noise_seed=None):
  """Draws as `sample.decode` does, with noise that a picture does not lose in another batch."""

  def draw(logits, extra, t):
    pictures = tf.shape(logits)[0] // config.samples
    noise = tf.random.stateless_uniform([config.samples, logits.shape[-1]], tf.stack([t, 7]))
    gumbel = -tf.math.log(-tf.math.log(tf.tile(noise, [pictures, 1])))
    return tf.argmax(logits[:, 0] + gumbel, -1, output_type=tf.int32)

  return single.decode(captioner, memory, config, draw, config.samples, noise_seed)


def one_update(strategy, make, batch, start=None):
  """Weights before and after one update, moments and losses."""
  keras.utils.set_random_seed(1)
  with strategy.scope():
    trainer = make()
    if start is not None:
      trainer.model.set_weights(start)
    before = trainer.model.get_weights()
    variables = [variable.value for variable in trainer.model.trainable_variables]
    # A large epsilon: Adam would blow rounding up to a whole step where gradients are zero.
    adam = optimizers.Adam(optimizers.OptimizerConfig(epsilon=1e-2), variables)
    stream = batch_shares.iterate(
      lambda _: tf.data.Dataset.from_tensors(batch).repeat(), 0, strategy
    )
    values = update_step.UpdateStep(trainer, adam)(
      next(stream), tf.constant([3, 4]), tf.constant(0.01), tf.constant(0.0)
    )
    moments = [moment.numpy() for moment in adam.first]
    return before, trainer.model.get_weights(), moments, {k: float(v) for k, v in values.items()}


@pytest.mark.filterwarnings("ignore:Even though the `tf.config")
@pytest.mark.parametrize("name", CASES)
def test_two_replicas_of_half_a_batch_make_the_update_of_the_whole(strategy, name, monkeypatch):
  monkeypatch.setattr(sample, "decode", draw_alike)
  make, make_batch = CASES[name]
  batch = make_batch()
  with op_by_op():
    start, expected, moments, losses = one_update(tf.distribute.get_strategy(), make, batch)
  with op_by_op(wanted="negatives" in batch):  # Matchers gather rows, which must be compiled.
    _, weights, found_moments, found = one_update(strategy, make, batch, start)
  assert losses["gradient_norm"] > 1e-3 and losses["finite"] == 1.0
  for key, loss in losses.items():
    np.testing.assert_allclose(found[key], loss, rtol=1e-5, atol=1e-6, err_msg=key)
  for actual, wanted in zip(found_moments + weights, moments + expected, strict=True):
    np.testing.assert_allclose(actual, wanted, atol=1e-5)


def test_a_mean_is_shared_by_what_each_replica_counts(strategy):
  masks = tf.constant([[True, True, True], [True, False, False]])
  values = tf.constant([[1.0, 2.0, 3.0], [8.0, 0.0, 0.0]])

  def mean_of_all():
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    mask = tf.gather(masks, number)
    own = tf.reduce_mean(tf.boolean_mask(tf.gather(values, number), mask))
    return replicas.share(own, mask)

  shares = strategy.run(mean_of_all)
  total = strategy.reduce(tf.distribute.ReduceOp.SUM, shares, axis=None)
  np.testing.assert_allclose(total, (1 + 2 + 3 + 8) / 4)


def test_a_part_that_knows_the_count_of_all_adds_its_share_of_the_mean():
  mask = tf.constant([True, False, True])
  with replicas.one_part_of(4, {"known": tf.constant(8.0)}):
    assert float(replicas.share(tf.constant(2.0), mask, "known")) == 2.0 * 2 / 8
    assert float(replicas.share(tf.constant(2.0), mask, "unknown")) == 2.0 / 4
  assert float(replicas.share(tf.constant(2.0), mask, "known")) == 2.0
