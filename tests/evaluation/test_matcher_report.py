"""Tests of gcap_tf/evaluation/matcher_report.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.evaluation import matcher_report
from gcap_tf.runs import run_folders
from tests.training import small_runs


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
  """Prepared data and two runs of untrained matchers."""
  folder = tmp_path_factory.mktemp("report")
  data = small_runs.data(folder)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  for name, model_name in (("a", "scan"), ("b", "vsepp")):
    model = run_folders.make_model("matcher", model_name, {**small_runs.MATCHER_SIZES, **sizes})
    run_folders.save(folder / name, "matcher", model_name, model, vocabulary)
  return folder


def test_one_run_gives_retrieval_and_attention_and_draws_its_curve(folders, tmp_path):
  curve = tmp_path / "curve.png"
  figures, similarity = matcher_report.evaluate_runs(
    [folders / "a"], folders / "data", "val", curve=curve
  )
  assert similarity.shape == (5, 25)
  assert {"rsum", "i2t_r1", "t2i_r10", "attention_f1", "attention_accuracy"} <= figures.keys()
  assert curve.read_bytes().startswith(b"\x89PNG")


def test_an_ensemble_is_the_mean_of_its_members(folders):
  both = [
    matcher_report.evaluate_runs([folders / name], folders / "data", "val")[1] for name in "ab"
  ]
  figures, together = matcher_report.evaluate_runs(
    [folders / "a", folders / "b"], folders / "data", "val"
  )
  np.testing.assert_allclose(together, np.mean(both, 0), atol=1e-6)
  assert "attention_f1" not in figures


def test_a_curve_of_an_ensemble_is_refused(folders, tmp_path):
  with pytest.raises(errors.UserError, match="needs one run that attends"):
    matcher_report.evaluate_runs([folders / "b"], folders / "data", "val", curve=tmp_path / "c.png")
