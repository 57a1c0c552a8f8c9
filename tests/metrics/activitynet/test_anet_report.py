import pytest

from gcap_tf.metrics.activitynet import anet_io, anet_report
from tests.metrics import anet_oracle, grounding_oracle


def evaluation():
  references, submission = anet_oracle.random_evaluation(11)
  return (
    anet_io.read_references("r", references),
    anet_io.read_submission("s", submission)[0],
    references["annotations"],
    submission["results"],
  )


def test_generated_sentences_show_the_evaluators_figures():
  references, predictions, annotations, results = evaluation()
  report = anet_report.generated_sentences(references, predictions, grounding_oracle.lemma)
  expected = anet_oracle.generated(annotations, results, "all")
  assert report.values["f1_all"] == pytest.approx(expected[2])
  assert report.values["f1_all_per_sentence"] == pytest.approx(expected[5])
  assert f"{100 * expected[2]:.2f}" in report.text
  assert "other segments submitted" in report.text


def test_given_sentences_show_the_accuracy():
  references, predictions, annotations, results = evaluation()
  report = anet_report.given_sentences(references, predictions, classes_shown=1)
  expected = anet_oracle.given_sentences(annotations, results)
  assert report.values["attention_accuracy"] == pytest.approx(expected)
  assert f"{100 * expected:.2f}" in report.text
