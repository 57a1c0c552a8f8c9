"""Tests of gcap_tf/training/methods/captioning.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.text import vocabulary
from gcap_tf.training.methods import captioning
from tests import captioner_harness

SEED = tf.constant([3, 4])
SMALL = {"embedding_size": 8, "hidden_size": 10}
GVD = SMALL | {"attention_size": 6, "region_size": 9, "location_size": 8}
SIZES = {
  "updown": SMALL | {"attention_size": 6},
  "gvd": GVD,
  "distributed": GVD | {"branches": 3},
  "cyclical": GVD,
  "adaptive": SMALL,
  "neuraltalk2": SMALL,
}
WORDS = vocabulary.Vocabulary(
  "captioner", ("", "dog", "dogs", "ball", "a", "the", "on", "red", "sits", "two", "UNK"),
  labels=("dog", "ball", "cat"),
)  # fmt: skip


def make(name="updown", **options):
  captioner_harness.fix_start()
  cls = catalog.CAPTIONERS.get(name)
  return cls(cls.Config(**({"vocabulary_size": 11, "feature_size": 7} | SIZES[name] | options)))


def batch_with_teacher():
  batch = captioner_harness.make_batch()
  rng = np.random.default_rng(1)
  teacher = rng.dirichlet(np.ones(5), size=batch["tokens"].shape)
  teacher *= np.repeat(batch["region_mask"].numpy(), 2, 0)[:, None]
  teacher /= teacher.sum(-1, keepdims=True)
  teacher *= batch["noun_mask"].numpy()[..., None]
  return batch | {"teacher_attention": tf.constant(teacher, tf.float32)}


BATCH = batch_with_teacher()


def losses(model, seed=SEED, batch=BATCH, words=None, **options):
  trainer = captioning.CaptioningTrainer(model, captioning.CaptioningConfig(**options), words)
  return {name: float(value) for name, value in trainer.losses(batch, seed).items()}


@pytest.mark.parametrize("name", sorted(SIZES))
def test_every_captioner_learns_captions(name):
  model = make(name)
  found = losses(model)
  assert list(found) == ["cross_entropy"]
  outputs = model.teacher_force(model.encode(BATCH, SEED), BATCH["tokens"], SEED)
  logits = outputs.get("branch_logits", outputs["logits"][:, :, None])
  tokens = tf.broadcast_to(BATCH["tokens"][..., None], tf.shape(logits)[:3])
  loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tokens, logits)
  expected = tf.reduce_mean(tf.boolean_mask(loss, BATCH["token_mask"]))
  np.testing.assert_allclose(found["cross_entropy"], expected, rtol=1e-4)


def test_branches_are_averaged_or_summed():
  model = make("distributed")
  mean, total = (losses(model, branch_reduction=r)["cross_entropy"] for r in ("mean", "sum"))
  np.testing.assert_allclose(total, 3 * mean, rtol=1e-5)


@pytest.mark.parametrize("name", ["updown", "gvd", "distributed", "cyclical"])
def test_every_regulariser_joins_every_captioner_of_the_family(name):
  """Distributed, Cyclical and distillation at once, by options alone."""
  model = make(name, localizer="linear", branches=3)
  found = losses(
    model,
    distill_weight=0.1,
    box_supervision="extend_nll",
    reconstruction_weight=0.5,
    consistency_weight=0.1,
    attention_weight=0.1,
  )
  assert set(found) == {
    "cross_entropy", "distillation", "boxes", "reconstruction", "consistency", "attention",
  }  # fmt: skip
  assert all(np.isfinite(value) and value > 0 for value in found.values())


def test_weights_scale_their_terms():
  model = make(localizer="linear")
  names = {
    "cross_entropy_weight": "cross_entropy",
    "distill_weight": "distillation",
    "reconstruction_weight": "reconstruction",
    "consistency_weight": "consistency",
  }
  ones, twos = (losses(model, **dict.fromkeys(names, value)) for value in (1.0, 2.0))
  for term in names.values():
    np.testing.assert_allclose(twos[term], 2 * ones[term], rtol=1e-5)


def test_gvds_supervised_losses_use_the_classes_of_words():
  model = make("gvd", num_classes=3)
  found = losses(
    model, words=WORDS, attention_weight=0.1, grounding_weight=0.1, classification_weight=0.1
  )
  assert {"attention", "grounding", "classification"} <= set(found)
  assert all(np.isfinite(value) and value > 0 for value in found.values())


def test_words_find_their_class_themselves_or_by_their_lemma():
  assert captioning.word_classes(WORDS) == (0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0)


def test_a_batch_without_nouns_or_boxes_gives_no_nan():
  batch = BATCH | {
    "noun_mask": tf.zeros_like(BATCH["noun_mask"]),
    "target_regions": tf.zeros_like(BATCH["target_regions"]),
  }
  model = make("gvd", num_classes=3, localizer="mlp")
  trainer = captioning.CaptioningTrainer(
    model,
    captioning.CaptioningConfig(
      distill_weight=1.0,
      box_supervision="nll",
      reconstruction_weight=1.0,
      reconstruction_words="nouns",
      localized_words="nouns",
      consistency_weight=1.0,
      attention_weight=1.0,
      grounding_weight=1.0,
      classification_weight=1.0,
    ),
    WORDS,
  )
  with tf.GradientTape() as tape:
    found = trainer.losses(batch, SEED)
    total = tf.add_n(list(found.values()))
  assert all(float(v) == 0 for name, v in found.items() if name != "cross_entropy")
  for gradient in tape.gradient(total, model.trainable_variables):
    assert gradient is None or np.isfinite(tf.convert_to_tensor(gradient)).all()


def test_distillation_moves_attention_towards_the_teacher():
  model = make(dropout=0.0)
  config = captioning.CaptioningConfig(cross_entropy_weight=0.0, distill_weight=1.0)
  trainer = captioning.CaptioningTrainer(model, config)
  variables = model.trainable_variables

  @tf.function(autograph=False)
  def step():
    with tf.GradientTape() as tape:
      total = tf.add_n(list(trainer.losses(BATCH, SEED).values()))
    for variable, gradient in zip(variables, tape.gradient(total, variables), strict=True):
      if gradient is not None:
        variable.assign_sub(2.0 * tf.convert_to_tensor(gradient))
    return total

  values = [float(step()) for _ in range(100)]
  assert values[-1] < 0.6 * values[0]


def test_sampling_grows_with_the_epochs():
  config = captioning.SamplingConfig(start=0)
  assert [config.chance(epoch) for epoch in (0, 4, 5, 9, 25, 99)] == [
    *(0.0, 0.0, 0.05, 0.05, 0.25, 0.25)
  ]
  assert captioning.SamplingConfig().chance(50) == 0.0


def test_the_chance_of_sampling_follows_the_epoch_without_a_new_graph():
  model = make()
  sampling = captioning.SamplingConfig(start=0, increase=1.0, most=1.0)
  trainer = captioning.CaptioningTrainer(model, captioning.CaptioningConfig(sampling=sampling))
  traces = []

  @tf.function(autograph=False)
  def run():
    traces.append(1)
    return trainer.losses(BATCH, SEED)["cross_entropy"]

  values = []
  for epoch in (0, 5):
    trainer.begin_epoch(epoch)
    values.append(float(run()))
  assert len(traces) == 1 and values[0] != values[1]
  plain = losses(model)["cross_entropy"]
  np.testing.assert_allclose(values[0], plain, rtol=1e-4)


def test_one_graph_serves_each_bucket_of_lengths():
  model, traces = make(), []
  trainer = captioning.CaptioningTrainer(model, captioning.CaptioningConfig())

  @tf.function(autograph=False)
  def run(batch):
    traces.append(1)
    return trainer.losses(batch, SEED)

  keys = ("tokens", "token_mask", "noun_mask", "target_regions", "teacher_attention")
  short = BATCH | {key: BATCH[key][:, :4] for key in keys}
  for batch in (BATCH, short, BATCH, short):
    run(batch)
  assert len(traces) == 2


@pytest.mark.parametrize(
  "name, options, message",
  [
    ("updown", {"reconstruction_weight": 0.5}, "localizer"),
    ("neuraltalk2", {"consistency_weight": 0.5}, "localizer"),
    ("updown", {"grounding_weight": 0.1}, "num_classes"),
    ("adaptive", {"attention_weight": 0.1}, "need the model updown"),
    ("neuraltalk2", {"sampling": captioning.SamplingConfig(start=0)}, "scheduled sampling"),
  ],
)
def test_losses_that_a_captioner_cannot_have_are_refused(name, options, message):
  with pytest.raises(errors.UserError, match=message):
    captioning.CaptioningTrainer(make(name), captioning.CaptioningConfig(**options))


def test_distillation_without_a_teacher_is_refused():
  batch = captioner_harness.make_batch()
  with pytest.raises(errors.UserError, match="name a teacher"):
    losses(make(), batch=batch, distill_weight=1.0)
