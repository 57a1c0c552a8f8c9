"""Tests of gcap_tf/evaluation/evaluators/grounding.py."""

import json

import pytest

from gcap_tf.evaluation.evaluators import grounding
from tests.evaluation.evaluators import subjects


def test_generated_and_given_sentences_are_judged_and_the_submission_is_saved(tmp_path):
  path = tmp_path / "grounding.json"
  subject = subjects.captioner(tmp_path, grounding_path=str(path))
  report = grounding.Grounding().run(subject)
  assert {"f1_all", "recall_loc", "chair_i", "attention_accuracy"} <= report.values.keys()
  errors = [value for key, value in report.values.items() if key.startswith("error_")]
  assert sum(errors) == pytest.approx(100.0)  # In percent.
  assert "hallucination: " in report.text
  submission = json.loads(path.read_text())
  assert submission["eval_mode"] == "gen" and len(submission["results"]) == 5


def test_classes_are_grouped_by_their_frequency_in_training(tmp_path):
  subject = subjects.captioner(tmp_path)
  report = grounding.Grounding().run(subject)
  counts = {}
  split = subject.split.data.split("train")
  for n in range(len(split)):
    for caption in split.record(n).captions:
      for thing in caption.objects:
        counts[thing.name] = counts.get(thing.name, 0) + 1
  assert grounding.training_frequency(subject.split.data) == counts
  assert f"f1_all_classes_1_{len(counts)}" in report.values
  assert "classes by frequency in training" in report.text


def test_pictures_add_up_to_the_figures(tmp_path):
  subject = subjects.captioner(tmp_path, name="updown", statistics=True)
  report = grounding.Grounding().run(subject)
  assert {"f1_all", "f1_loc", "error_partial", "attention_accuracy"} <= report.statistics.keys()
  for name, found in report.statistics.items():
    assert found.value == pytest.approx(report.values[name], abs=1e-6), name
  assert report.values["error_hallucinated"] > 0


def test_a_localiser_is_judged_besides_the_decoder(tmp_path):
  sizes = {"region_size": 6, "location_size": 4, "attention_size": 8}
  for kind in ("linear", "hidden"):
    subject = subjects.captioner(
      tmp_path / kind, name="cyclical", sizes={**sizes, "localizer": kind}, statistics=True
    )
    report = grounding.Grounding().run(subject)
    assert 0 <= report.values["localizer_accuracy"] <= 100
    found = report.statistics["localizer_accuracy"].value
    assert found == pytest.approx(report.values["localizer_accuracy"], abs=1e-6)
  plain = grounding.Grounding().run(subjects.captioner(tmp_path / "plain"))
  assert "localizer_accuracy" not in plain.values


def test_data_without_boxes_is_not_judged(tmp_path):
  report = grounding.Grounding().run(subjects.captioner(tmp_path, boxes=False))
  assert report.values == {} and "grounding not computed" in report.text
