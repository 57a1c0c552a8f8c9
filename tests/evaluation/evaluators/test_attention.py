"""Tests of gcap_tf/evaluation/evaluators/attention.py."""

import dataclasses

import pytest
from PIL import Image

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


def test_pictures_add_up_to_the_figures(tmp_path):
  report = attention.Attention().run(subjects.matcher(tmp_path, statistics=True))
  assert set(report.statistics) == {"attention_f1", "attention_accuracy"}
  for name, found in report.statistics.items():
    assert found.value == pytest.approx(report.values[name], abs=1e-6), name


def test_a_higher_iou_makes_fewer_regions_relevant(tmp_path):
  subject = subjects.matcher(tmp_path)
  low, high = (
    attention.Attention().run(dataclasses.replace(subject, iou=iou)).values["attention_precision"]
    for iou in (0.1, 0.7)
  )
  assert high < low


def test_several_curves_share_a_picture(tmp_path):
  subject = subjects.matcher(tmp_path)
  path = tmp_path / "curves.png"
  attention.compare_curves(subject.members * 2, subject.split, 0.4, path)
  assert Image.open(path).format == "PNG"
  (vsepp,) = subjects.matcher(tmp_path / "other", name="vsepp").members
  with pytest.raises(errors.UserError, match="needs a matcher that attends"):
    attention.compare_curves([vsepp], subject.split, 0.4, path)
