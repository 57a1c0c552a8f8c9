"""Tests of gcap_tf/evaluation/evaluators/diversity.py."""

from gcap_tf.evaluation.evaluators import diversity
from tests.evaluation.evaluators import subjects


def test_captions_are_compared_with_those_of_the_training_split(tmp_path):
  subject = subjects.captioner(tmp_path)
  report = diversity.Diversity().run(subject)
  assert 0 <= report.values["novel_captions"] <= 100
  assert "distinctiveness: " in report.text
  words = list(diversity.training_captions(subject.split.data))
  train = subject.split.data.split("train")
  assert len(words) == sum(len(train.record(n).captions) for n in range(len(train)))
