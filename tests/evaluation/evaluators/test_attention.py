"""Tests of gcap_tf/evaluation/evaluators/attention.py."""

import pytest

from gcap_tf import errors
from gcap_tf.evaluation.evaluators import attention
from tests.evaluation.evaluators import subjects


def test_a_matcher_that_attends_is_judged_and_its_curve_is_drawn(tmp_path):
  curve = tmp_path / "curve.png"
  report = attention.Attention().run(subjects.matcher(tmp_path, curve=curve))
  assert {"attention_f1", "attention_accuracy"} <= report.values.keys()
  assert report.values["attention_recall"] > 1.0  # In percent.
  assert report.values["attention_threshold"] <= 1.0
  assert curve.read_bytes().startswith(b"\x89PNG")


def test_a_matcher_without_attention_has_no_figures_and_no_curve(tmp_path):
  assert attention.Attention().run(subjects.matcher(tmp_path, "vsepp")).values == {}
  with pytest.raises(errors.UserError, match="needs one run that attends"):
    attention.Attention().run(subjects.matcher(tmp_path / "b", "vsepp", curve="c.png"))
