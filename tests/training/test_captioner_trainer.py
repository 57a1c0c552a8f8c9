"""Tests of gcap_tf/training/captioner_trainer.py."""

from gcap_tf.evaluation import caption_validation
from gcap_tf.runs import run_folders
from gcap_tf.training import captioner_trainer
from tests.training import fine_tuned, small_runs


class Silent(captioner_trainer.CaptionerTrainer):
  def losses(self, batch, seed):
    return {}


def test_a_captioner_is_validated_and_its_captions_are_shown(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=2)
  run = run_folders.load(fine_tuned.captioner(tmp_path / "run", data))
  split = data.split("val")
  trainer = Silent(run.model, caption_validation.Validation(run.model, run.vocabulary, split))
  assert trainer.evaluate().keys() == {trainer.best_metric}
  assert all(f"| {image} |" in trainer.texts()["captions"] for image in split.image_ids)
  assert all(name.startswith("attention/") for name in trainer.pictures())


def test_without_validation_nothing_is_shown():
  silent = Silent(None)
  assert silent.evaluate() == {} == silent.pictures() == silent.texts()
