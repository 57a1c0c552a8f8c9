"""Tests of gcap_tf/evaluation/caption_validation.py."""

from gcap_tf.evaluation import caption_validation
from gcap_tf.runs import run_folders
from tests.training import fine_tuned, small_runs


def test_a_captioner_is_judged_by_the_cider_of_its_captions(tmp_path):
  data = small_runs.data(tmp_path)
  run = run_folders.load(fine_tuned.captioner(tmp_path / "run", data))
  found = caption_validation.Validation(run.model, run.vocabulary, data.split("val"))()
  assert found.keys() == {"cider"} and 0 <= found["cider"] <= 1000


def test_without_validation_pictures_there_are_no_figures(tmp_path):
  assert caption_validation.Validation(None, None, None)() == {}
