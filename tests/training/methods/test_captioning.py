"""Tests of gcap_tf/training/methods/captioning.py."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.data.prepared import pipeline
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary
from gcap_tf.training import captioner_model, loss_options, teacher_cache
from gcap_tf.training.methods import captioning
from tests import captioner_harness
from tests.data import make_records
from tests.training import fine_tuned, small_runs

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
  taught = {"teacher_attention": tf.constant(teacher, tf.float32)}
  return batch | taught | {"teacher_words": batch["noun_mask"]}


BATCH = batch_with_teacher()


def losses(model, seed=SEED, batch=BATCH, words=None, **options):
  trainer = captioning.CaptioningTrainer(model, loss_options.CaptioningLosses(**options), words)
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


def test_a_batch_without_nouns_or_boxes_gives_no_nan():
  batch = BATCH | {
    "noun_mask": tf.zeros_like(BATCH["noun_mask"]),
    "teacher_words": tf.zeros_like(BATCH["teacher_words"]),
    "target_regions": tf.zeros_like(BATCH["target_regions"]),
  }
  model = make("gvd", num_classes=3, localizer="mlp")
  trainer = captioning.CaptioningTrainer(
    model,
    loss_options.CaptioningLosses(
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


def test_the_chance_of_sampling_follows_the_epoch_without_a_new_graph():
  model = make()
  scheduled_sampling = loss_options.ScheduledSampling(start=0, increase=1.0, most=1.0)
  trainer = captioning.CaptioningTrainer(
    model, loss_options.CaptioningLosses(scheduled_sampling=scheduled_sampling)
  )
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
  trainer = captioning.CaptioningTrainer(model, loss_options.CaptioningLosses())

  @tf.function(autograph=False)
  def run(batch):
    traces.append(1)
    return trainer.losses(batch, SEED)

  keys = ("tokens", "token_mask", "noun_mask", "target_regions")
  keys += ("teacher_attention", "teacher_words")
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
    ("adaptive", {"attention_weight": 0.1}, "attention_weight is not for Adaptive"),
    (
      "neuraltalk2",
      {"scheduled_sampling": loss_options.ScheduledSampling(start=0)},
      "scheduled sampling",
    ),
  ],
)
def test_losses_that_a_captioner_cannot_have_are_refused(name, options, message):
  with pytest.raises(errors.UserError, match=message):
    captioning.CaptioningTrainer(make(name), loss_options.CaptioningLosses(**options))


def losses_of(run):
  lines = [json.loads(line) for line in (run / "metrics.jsonl").open()]
  return [line for line in lines if "loss" in line]


def test_training_writes_a_run_that_loads_and_compiles_once_per_bucket(tmp_path, monkeypatch):
  data = small_runs.data(tmp_path)
  lengths = count_traces(monkeypatch)
  config = small_runs.captioner_config(captions_per_image=1, buckets=(6, 7, 9), epochs=4)
  config = dataclasses.replace(config, images=2)
  figures = captioning.train(data, config, tmp_path / "run")
  # Another length makes the graph take any, so that none compiles twice.
  assert 1 < len(lengths) <= 3 and len(lengths) == len(set(lengths))
  assert figures["best_score"] >= figures["cider"] >= 0
  run = run_folders.load(tmp_path / "run", "captioner")
  assert run.model.config.feature_size == 8 and run.model.config.num_labels == 0
  assert run.config["object_classes"] == list(data.object_classes)
  check_shown(tmp_path / "run", data.split("val").record(0))


def count_traces(monkeypatch):
  """The length of captions at every trace of a training step."""
  lengths, losses = [], captioning.CaptioningTrainer.losses

  def counted(self, batch, seed):
    lengths.append(batch["tokens"].shape[1])
    return losses(self, batch, seed)

  monkeypatch.setattr(captioning.CaptioningTrainer, "losses", counted)
  return lengths


def check_shown(run, record):
  """TensorBoard has curves, captions of every validation and the options."""
  found = small_runs.summaries(run)
  text = found["captions"][-1].tensor.string_val[0].decode()
  assert f"| {record.image_id} |" in text and " ".join(record.captions[0].tokens) in text
  assert len(found["captions"]) == 4
  assert {"training/cross_entropy", "validation/cider"} <= found.keys()
  assert "_hparams_/session_start_info" in found


def test_a_run_begins_with_the_weights_and_words_of_its_start(tmp_path):
  data, again = small_runs.data(tmp_path), small_runs.data(tmp_path / "other", train=4)
  captioning.train(data, small_runs.captioner_config(), tmp_path / "language")
  config = small_runs.captioner_config(start=str(tmp_path / "language"), max_steps=1, epochs=1)
  still = dataclasses.replace(config.schedule, learning_rate=1e-12)
  config = dataclasses.replace(config, schedule=still)
  captioning.train(again, config, tmp_path / "run")
  start, run = (run_folders.load(tmp_path / name) for name in ("language", "run"))
  assert run.vocabulary == start.vocabulary and run.config["start"] == str(start.folder)
  for ours, theirs in zip(run.model.variables, start.model.variables, strict=True):
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
  with pytest.raises(errors.UserError, match="holds updown, not gvd"):
    captioning.train(again, dataclasses.replace(config, model="gvd"), tmp_path / "gvd")
  with pytest.raises(errors.UserError, match="a start or a first stage, not both"):
    captioning.train(again, dataclasses.replace(config, first_stage_steps=1), tmp_path / "two")


def test_regions_with_labels_alone_are_learned_from_their_labels(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  captioning.train(data, small_runs.captioner_config(), tmp_path / "run")
  run = run_folders.load(tmp_path / "run")
  assert run.model.config.feature_size == 0
  assert run.model.config.num_labels == len(run.vocabulary.labels) > 0


def test_a_teacher_adds_its_loss_and_its_attention_is_kept(tmp_path):
  data = small_runs.data(tmp_path)
  fine_tuned.matcher(tmp_path / "teacher", data)
  config = small_runs.captioner_config(
    teacher=str(tmp_path / "teacher"), losses=loss_options.CaptioningLosses(distill_weight=0.5)
  )
  captioning.train(data, config, tmp_path / "run")
  assert losses_of(tmp_path / "run")[-1]["distillation"] > 0
  kept = list((tmp_path / "teacher" / "attention").iterdir())
  teacher = run_folders.load(tmp_path / "teacher", "matcher")
  teacher_cache.open_or_compute(teacher, data.split("train"))
  assert list((tmp_path / "teacher" / "attention").iterdir()) == kept


def test_a_teacher_of_verbs_distils_verbs(tmp_path):
  data = small_runs.data(tmp_path)
  tagged = {tag for n in range(3) for c in data.split("train").record(n).captions for tag in c.tags}
  scored = sorted(tagged - {"NOUN", "PROPN"})
  fine_tuned.matcher(tmp_path / "teacher", data, tags=scored)
  config = small_runs.captioner_config(
    teacher=str(tmp_path / "teacher"), losses=loss_options.CaptioningLosses(distill_weight=0.5)
  )
  captioning.train(data, config, tmp_path / "run")
  assert losses_of(tmp_path / "run")[-1]["distillation"] > 0


def test_regions_that_lack_what_is_asked_for_are_refused(tmp_path):
  data = small_runs.data(tmp_path, labels=False)
  config = small_runs.captioner_config(region_labels="yes")
  with pytest.raises(errors.UserError, match="regions without labels"):
    captioning.train(data, config, tmp_path / "run")


@pytest.mark.parametrize("model", catalog.CAPTIONERS.names())
def test_every_captioner_learns_from_labels_alone(tmp_path, model):
  data = small_runs.data(tmp_path, train=3, val=1, feature_size=0)
  known = {field.name for field in dataclasses.fields(catalog.CAPTIONERS.get(model).Config)}
  sizes = {**small_runs.CAPTIONER_SIZES, "region_size": 6, "location_size": 4, "dropout": 0.0}
  options = {name: value for name, value in sizes.items() if name in known}
  config = captioning.CaptionerTrainingConfig(model, options, min_count=1)
  vocabulary = captioner_model.build_vocabulary(data, config)
  assert set(vocabulary.labels) <= set(make_records.NOUNS)
  chosen = captioner_model.model_config(data, vocabulary, config)
  captioner = run_folders.make_model("captioner", model, chosen)
  batches = pipeline.training_batches(
    data.split("train"), vocabulary, pipeline.BatchConfig(images=3, captions_per_image=2)
  )
  batch = next(iter(batches))
  trainer = captioning.CaptioningTrainer(captioner, loss_options.CaptioningLosses(), vocabulary)
  table = captioner.region_input.labels.embeddings
  with tf.GradientTape() as tape:
    loss = trainer.losses(batch, tf.constant([1, 2]))["cross_entropy"]
  gradient = tf.convert_to_tensor(tape.gradient(loss, table.value))
  seen = set(batch["region_labels"].numpy().ravel())
  assert set(np.flatnonzero(np.abs(gradient).sum(-1))) == seen and 0 not in seen
