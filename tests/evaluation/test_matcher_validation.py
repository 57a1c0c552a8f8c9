"""Tests of gcap_tf/evaluation/matcher_validation.py."""

from gcap_tf.evaluation import matcher_validation
from gcap_tf.runs import run_folders
from tests.training import small_runs


def make(folder):
  data = small_runs.data(folder, train=2, val=3)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  return model, vocabulary, data.split("val")


def test_a_matcher_is_judged_by_retrieval_and_attention(tmp_path):
  validation = matcher_validation.Validation(*make(tmp_path))
  found = validation()
  assert {"rsum", "t2i_r1", "attention_f1"} <= found.keys()
  assert found["attention_recall"] > 1.0  # In percent.


def test_without_validation_pictures_there_are_no_figures(tmp_path):
  model, vocabulary, _ = make(tmp_path)
  validation = matcher_validation.Validation(model, vocabulary, None)
  assert validation() == {} == validation.pictures()
