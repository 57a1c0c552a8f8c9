"""Tests of gcap_tf/training/methods/self_critical.py."""

import dataclasses
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import catalog, likelihood
from gcap_tf.data.prepared import prepared_data
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import greedy, sample
from gcap_tf.losses import distillation
from gcap_tf.matchers import catalog as matcher_catalog
from gcap_tf.rewards import matcher_score, weighted
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import schedules
from gcap_tf.training.methods import self_critical
from tests import captioner_harness
from tests.training import fine_tuned, small_runs

SEED = tf.constant([3, 5])
VOCABULARY = vocabularies.Vocabulary("captioner", ("", *(f"w{n}" for n in range(1, 10)), "UNK"))


class Oddness:
  """A reward that differs between captions: the sum of their odd ids, a tenth each."""

  def score(self, captions, images):
    return np.where(captions % 2 == 1, captions, 0).sum(1) / 10.0


def make_model(name="updown", dropout=0.3):
  captioner_harness.fix_start()
  cls = catalog.CAPTIONERS.get(name)
  sizes = {"embedding_size": 8, "hidden_size": 9, "feature_size": 7, "dropout": dropout}
  return cls(cls.Config(vocabulary_size=VOCABULARY.size, **sizes))


def make_batch():
  batch = captioner_harness.make_batch()
  ids = tf.constant([f"p{n}" for n in range(3)])
  return batch | {"image_id": ids}


def make_matcher(name="pos_scan"):
  keras.utils.set_random_seed(2)
  words = vocabularies.Vocabulary(
    "matcher", (*vocabularies.MATCHER_SPECIALS, *VOCABULARY.words[1:-1])
  )
  cls = matcher_catalog.MATCHERS.get(name)
  model = cls(cls.Config(vocabulary_size=words.size, feature_size=7, joint_size=6, word_size=4))
  return matcher_score.MatcherScore(model, words, VOCABULARY, np.arange(VOCABULARY.size) % 3 == 1)


def gradients_of(model, loss_of):
  variables = [variable.value for variable in model.trainable_variables]
  with tf.GradientTape() as tape:
    loss = loss_of()
  found = tape.gradient(loss, variables, unconnected_gradients="zero")
  return loss, [tf.convert_to_tensor(gradient).numpy() for gradient in found]


def gradients_of_log_probabilities(model, batch, drawn):
  """[6] gradients of ln p of each caption, each an array of the arrays of all variables."""
  variables = [variable.value for variable in model.trainable_variables]
  with tf.GradientTape(persistent=True) as tape:
    memory = model.encode(batch, SEED)
    log_probs = likelihood.caption_log_probs(model, memory, tf.constant(drawn), SEED)
    each = tf.unstack(log_probs)
  return [
    np.array(
      [
        tf.convert_to_tensor(part).numpy()
        for part in tape.gradient(value, variables, unconnected_gradients="zero")
      ],
      object,
    )
    for value in each
  ]


@pytest.mark.parametrize("baseline", ["greedy", "mean_of_others"])
def test_the_gradient_is_minus_the_advantage_times_that_of_the_log_probability(baseline):
  model, batch = make_model("neuraltalk2"), make_batch()
  options = self_critical.SampledCaptions(baseline, samples=2, max_length=6)
  trainer = self_critical.ScstTrainer(
    model, options, weighted.WeightedSum({"cider": 1.0}, {"cider": Oddness()})
  )
  step = tf.function(lambda: trainer.losses(batch, SEED)["policy"], autograph=False)
  _, found = gradients_of(model, step)

  decode = decode_config.DecodeConfig("sample", 6, samples=2)
  drawn = sample.decode(model, model.encode(batch, SEED), decode, SEED, SEED)["tokens"].numpy()
  best = greedy.decode(model, model.encode(batch), decode)["tokens"].numpy()
  of_drawn, of_best = Oddness().score(drawn, None), Oddness().score(best, None)
  of_log_probability = gradients_of_log_probabilities(model, batch, drawn)
  expected, words = 0.0, 0
  for b in range(6):
    other = of_best[b // 2] if baseline == "greedy" else of_drawn[b ^ 1]
    words += min((drawn[b] > 0).sum() + 1, 6)

    expected = expected - (of_drawn[b] - other) * of_log_probability[b]
  assert len(set(of_drawn)) > 2
  for ours, theirs in zip(found, expected, strict=True):
    np.testing.assert_allclose(ours, theirs / words, atol=1e-6)
  assert max(np.abs(part).max() for part in found) > 1e-3


@pytest.mark.parametrize("name", ["distributed", "adaptive"])
def test_any_captioner_learns(name):
  model, batch = make_model(name), make_batch()
  trainer = self_critical.ScstTrainer(
    model,
    self_critical.SampledCaptions(samples=2, max_length=4),
    weighted.WeightedSum({"cider": 1.0}, {"cider": Oddness()}),
  )
  _, found = gradients_of(model, lambda: trainer.losses(batch, SEED)["policy"])
  assert max(np.abs(part).max() for part in found) > 1e-4


def test_the_matcher_scores_drawn_and_greedy_captions_and_both_are_reported():
  model, batch = make_model("neuraltalk2"), make_batch()
  rewards = weighted.WeightedSum({"matcher": 2.0}, {})
  options = self_critical.SampledCaptions(samples=2, max_length=6)
  trainer = self_critical.ScstTrainer(model, options, rewards, make_matcher("scan"))
  found = trainer.losses(batch, SEED)
  assert set(found) == {"policy", *trainer.reported}
  values = {name: float(value) for name, value in found.items()}
  np.testing.assert_allclose(values["reward_sample"], 2 * values["reward_matcher"], rtol=1e-5)
  np.testing.assert_allclose(
    values["advantage"], values["reward_sample"] - values["reward_baseline"], atol=1e-6
  )
  assert 0 < values["words"] <= 6 and 0 <= values["unfinished"] <= 1
  assert "starts NEGATIVE" in trainer.texts()["how_to_read_the_rewards"]


def test_distillation_draws_the_attention_of_drawn_nouns_to_the_teacher():
  model, batch, teacher = make_model(dropout=0.0), make_batch(), make_matcher()
  options = self_critical.SampledCaptions(samples=2, max_length=6, distill_weight=0.5)
  rewards = weighted.WeightedSum({"cider": 1.0}, {"cider": Oddness()})
  trainer = self_critical.ScstTrainer(model, options, rewards, teacher=teacher)
  found = trainer.losses(batch, SEED)["distillation"]
  decode = decode_config.DecodeConfig("sample", 6, samples=2)
  memory = model.encode(batch)
  tokens = sample.decode(model, memory, decode, SEED)["tokens"]
  student = model.teacher_force(memory, tokens)["attention"][:, :, 0]
  alone = []
  for b in range(6):
    picture = {
      name: batch[name][b // 2 : b // 2 + 1] for name in ("features", "region_mask", "boxes")
    }
    read = teacher.captions(tokens[b : b + 1])
    attention = teacher.matcher.attention(
      teacher.matcher.encode_images(picture), teacher.matcher.encode_captions(read)
    )
    alone.append(attention[0, 1:-1])
  expected = distillation.loss("kl", tf.stack(alone), student, teacher.noun_mask(tokens))
  np.testing.assert_allclose(found, 0.5 * expected, rtol=1e-5)
  assert float(expected) > 0


def test_one_sample_has_no_others_to_be_compared_with():
  with pytest.raises(errors.UserError, match="2 samples per picture or more, not 1"):
    self_critical.SampledCaptions("mean_of_others", samples=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  """A folder with data, start, matcher."""
  folder = tmp_path_factory.mktemp("scst")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  fine_tuned.matcher(folder / "matcher", data)
  return folder


def make_config(place, **options):
  chosen = {
    "start": str(place / "start"),
    "images": 6,
    "epochs": 2,
    "sampled_captions": self_critical.SampledCaptions(samples=2, max_length=9),
    "schedule": schedules.ScheduleConfig("constant", 0.01),
  } | options
  return self_critical.ScstTrainingConfig(**chosen)


def train(place, config, run):
  return self_critical.train(prepared_data.PreparedData(place / "data"), config, run)


def test_a_run_that_was_stopped_ends_as_one_that_was_not_and_needs_no_other_folder(
  place, tmp_path, capsys
):
  start = shutil.copytree(place / "start", tmp_path / "start")
  config = make_config(
    place, start=str(start), rewards="cider:1,matcher:0.5,bleu:2", matcher=str(place / "matcher")
  )
  figures = train(place, config, tmp_path / "whole")
  said = capsys.readouterr().out
  assert f"reward: pos_scan from {place / 'matcher'} (nouns by table)" in said
  assert "the start: cider" in said and "cider" in figures
  train(place, dataclasses.replace(config, epochs=1), tmp_path / "halves")
  train(place, config, tmp_path / "halves")
  for whole, halves in zip(
    fine_tuned.weights(tmp_path / "whole", 4), fine_tuned.weights(tmp_path / "halves", 4),
    strict=True,
  ):  # fmt: skip
    np.testing.assert_array_equal(whole, halves)
  curves = [
    [line for line in fine_tuned.lines(tmp_path / run) if line["step"] == 4]
    for run in ("whole", "halves")
  ]
  assert curves[0] == curves[1]
  parts = curves[0][0]
  total = parts["reward_cider"] + 0.5 * parts["reward_matcher"] + 2 * parts["reward_bleu"]
  np.testing.assert_allclose(parts["reward_sample"], total, rtol=1e-5)
  assert fine_tuned.lines(tmp_path / "whole")[0].keys() == {"step", "val_cider"}
  assert "starts NEGATIVE" in (tmp_path / "whole" / "rewards.md").read_text()
  shutil.rmtree(start)
  assert run_folders.load(tmp_path / "whole").name == "neuraltalk2"


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"rewards": "cider:1,matcher:1"}, "need a matcher: name its run folder with --matcher"),
    ({"matcher": "m"}, "--matcher=m is named but not used"),
    ({"teacher": "t"}, "--teacher=t is named but not used"),
    (
      {"sampled_captions": self_critical.SampledCaptions(distill_weight=0.1)},
      "name a matcher with --teacher=RUN",
    ),
    ({"start": ""}, "--start=RUN"),
    ({"rewards": "matcher:1", "matcher": "START"}, "holds a captioner .*, not a matcher"),
    ({"rewards": "matcher:1", "matcher": "WIDE"}, "regions of 5 features, .* has 8"),
  ],
)
def test_what_does_not_fit_is_one_line(place, tmp_path, options, message):
  if options.get("matcher") == "WIDE":
    data = prepared_data.PreparedData(place / "data")
    fine_tuned.matcher(tmp_path / "wide", data, feature_size=5)
  paths = {"START": str(place / "start"), "WIDE": str(tmp_path / "wide")}
  if options.get("matcher") in paths:
    options = options | {"matcher": paths[options["matcher"]]}
  with pytest.raises(errors.UserError, match=message):
    train(place, make_config(place, **options), tmp_path / "run")


def test_a_fine_tuned_run_can_be_fine_tuned_again(place, tmp_path):
  once = make_config(place, max_steps=1)
  train(place, once, tmp_path / "once")
  train(place, dataclasses.replace(once, start=str(tmp_path / "once")), tmp_path / "twice")
  words = [
    run_folders.load(tmp_path / run).config["training"]["max_words"] for run in ("once", "twice")
  ]
  assert words == [8, 8]
