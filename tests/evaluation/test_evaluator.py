"""Tests of gcap_tf/evaluation/evaluator.py."""

from gcap_tf import registry
from gcap_tf.evaluation import evaluator
from tests.evaluation.evaluators import subjects


def test_a_registered_evaluator_is_run_and_empty_reports_leave_no_text():
  toys = registry.Registry("toy")

  @toys.register("length")
  class Length(evaluator.Evaluator[str]):
    def run(self, subject):
      return evaluator.Report(f"{len(subject)} letters", {"letters": len(subject)})

  @toys.register("first")
  class First(evaluator.Evaluator[str]):
    def run(self, subject):
      return evaluator.Report("starts here", {"first": subject[0]})

  @toys.register("silent")
  class Silent(evaluator.Evaluator[str]):
    def run(self, subject):
      return evaluator.Report()

  report = evaluator.run_all(toys, "dog")
  assert report.text == "starts here\n\n3 letters"
  assert report.values == {"first": "d", "letters": 3}


def test_a_split_is_captioned_once_for_all_evaluators(tmp_path):
  subject = subjects.captioner(tmp_path)
  assert subject.answers is subject.answers
  assert [answer.image_id for answer in subject.answers] == list(subject.split.image_ids)
