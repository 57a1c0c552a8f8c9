"""Tests of gcap_tf/evaluation/evaluators/captions.py."""

import json

import pytest

from gcap_tf.evaluation.evaluators import captions
from tests.evaluation.evaluators import subjects


def test_captions_are_scored_and_saved(tmp_path):
  path = tmp_path / "captions.json"
  subject = subjects.captioner(tmp_path, metrics=("bleu", "cider"), captions_path=str(path))
  report = captions.Captions().run(subject)
  assert {"bleu_1", "bleu_4", "cider"} <= report.values.keys() and "meteor" not in report.values
  assert "cider" in report.text
  saved = json.loads(path.read_text())
  assert [row["caption"] for row in saved] == [answer.caption for answer in subject.answers]


def test_pictures_add_up_to_metrics_that_are_means(tmp_path):
  subject = subjects.captioner(tmp_path, metrics=("cider", "bleu"), statistics=True)
  report = captions.Captions().run(subject)
  assert set(report.statistics) == {"cider"}
  assert report.statistics["cider"].value == pytest.approx(report.values["cider"])
