"""Tests of gcap_tf/training/captioner_training.py."""

import dataclasses
import json

import pytest

from gcap_tf import errors
from gcap_tf.training import (
  captioner_training,
  captioning,
  matcher_training,
  optimizers,
  runs,
)
from tests.training import small_runs


def losses_of(run):
  lines = [json.loads(line) for line in (run / "metrics.jsonl").open()]
  return [line for line in lines if "loss" in line]


def test_training_writes_a_run_that_loads(tmp_path):
  data = small_runs.data(tmp_path)
  figures = captioner_training.train(data, small_runs.captioner_config(), tmp_path / "run")
  assert figures["best_score"] == figures["cider"] >= 0
  run = runs.load(tmp_path / "run", "captioner")
  assert run.model.config.feature_size == 8 and run.model.config.num_labels == 0
  assert run.config["object_classes"] == list(data.object_classes)


def test_regions_with_labels_alone_are_learned_from_their_labels(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  captioner_training.train(data, small_runs.captioner_config(), tmp_path / "run")
  run = runs.load(tmp_path / "run")
  assert run.model.config.feature_size == 0
  assert run.model.config.num_labels == len(run.vocabulary.labels) > 0


def test_a_teacher_adds_its_loss_and_its_attention_is_kept(tmp_path):
  data = small_runs.data(tmp_path)
  matcher_training.train(data, small_runs.matcher_config("pos_scan"), tmp_path / "teacher")
  config = small_runs.captioner_config(
    teacher=str(tmp_path / "teacher"), losses=captioning.CaptioningConfig(distill_weight=0.5)
  )
  captioner_training.train(data, config, tmp_path / "run")
  assert losses_of(tmp_path / "run")[-1]["distillation"] > 0
  kept = list((tmp_path / "teacher" / "attention").iterdir())
  captioner_training.train(data, dataclasses.replace(config, seed=2), tmp_path / "other")
  assert list((tmp_path / "teacher" / "attention").iterdir()) == kept


def test_regions_that_lack_what_is_asked_for_are_refused(tmp_path):
  data = small_runs.data(tmp_path, labels=False)
  config = small_runs.captioner_config(region_labels="yes")
  with pytest.raises(errors.UserError, match="regions without labels"):
    captioner_training.train(data, config, tmp_path / "run")


@pytest.mark.parametrize(
  ("model", "clip", "words"), [("updown", "value", 16), ("distributed", "norm", 20)]
)
def test_each_family_has_its_published_settings(model, clip, words):
  config = captioner_training.for_model(model)
  assert (config.optimizer.clip, config.max_words) == (clip, words)
  assert config.optimizer.clip_at == 0.1


def test_cyclical_weighs_both_passes():
  losses = captioner_training.for_model("cyclical").losses
  assert losses.cross_entropy_weight == losses.reconstruction_weight == 0.5


def test_a_step_compiles_once_per_bucket(tmp_path, monkeypatch):
  data = small_runs.data(tmp_path)
  traces = []
  losses = captioning.CaptioningTrainer.losses

  def counted(self, batch, seed):
    traces.append(batch["tokens"].shape[1])
    return losses(self, batch, seed)

  monkeypatch.setattr(captioning.CaptioningTrainer, "losses", counted)
  config = small_runs.captioner_config(captions_per_image=1, buckets=(6, 7, 9), epochs=6)
  captioner_training.train(data, dataclasses.replace(config, images=2), tmp_path / "run")
  assert len(losses_of(tmp_path / "run")) > 1
  # The second length makes the graph take any: no bucket after that compiles again.
  assert 1 <= len(traces) <= 3 and len(traces) == len(set(traces))


def test_classes_of_regions_follow_from_the_data(tmp_path):
  data = small_runs.data(tmp_path, train=6)
  sizes = {"region_size": 6, "location_size": 4, **small_runs.CAPTIONER_SIZES}
  config = small_runs.captioner_config(
    "gvd",
    region_classes="objects",
    losses=captioning.CaptioningConfig(grounding_weight=0.1, classification_weight=0.1),
    optimizer=optimizers.OptimizerConfig(slow=("classes/kernel", "refine_region/kernel")),
  )
  config = dataclasses.replace(config, options=sizes)
  captioner_training.train(data, config, tmp_path / "run")
  run = runs.load(tmp_path / "run")
  assert run.vocabulary.labels == data.object_classes
  assert (run.model.config.num_classes, run.model.config.num_labels) == (6, 0)
  assert losses_of(tmp_path / "run")[-1]["classification"] > 0
