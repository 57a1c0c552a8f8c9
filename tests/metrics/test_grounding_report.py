import numpy as np
import pytest

from gcap_tf.metrics import grounding_report, results_io
from tests.metrics import grounding_oracle as oracle


def evaluation(mode, seed=4):
  references, submission = oracle.random_evaluation(seed, mode)
  return (
    results_io.read_references("r.json", references),
    results_io.read_submission("s.json", submission),
    references["annotations"],
    submission["results"],
  )


def test_generated_sentences_carry_the_evaluators_figures_and_readable_tables():
  references, submission, annotations, results = evaluation("gen")
  report = grounding_report.generated_sentences(references, submission.results, oracle.lemma)
  precision, recall, f1 = oracle.generated(annotations, results, "all")
  assert report.values["precision_all"] == pytest.approx(precision)
  assert report.values["recall_all"] == pytest.approx(recall)
  assert report.values["f1_all"] == pytest.approx(f1)
  assert {
    "precision_loc", "recall_loc", "f1_loc", "f1_all_per_sentence", "f1_loc_per_sentence",
    "f1_all_micro", "f1_loc_micro", "f1_all_partial_as_correct", "error_missing",
  } <= report.values.keys()  # fmt: skip
  assert f"{100 * f1:.2f}" in report.text
  assert "hallucinated class" in report.text


def test_given_sentences_carry_the_evaluators_accuracy():
  references, submission, annotations, results = evaluation("GT")
  report = grounding_report.given_sentences(references, submission.results)
  expected = oracle.given_sentences(annotations, results)
  assert report.values["attention_accuracy"] == pytest.approx(expected)
  assert f"{100 * expected:.2f}" in report.text


def submission_of(*sizes):
  empty = {"clss": [], "idx_in_sent": [], "bbox": []}
  results = {str(n): [empty] * size for n, size in enumerate(sizes)}
  return results_io.read_submission("s.json", {"results": results})


def references_of(*sizes):
  return [
    results_io.Reference(
      str(n), (results_io.ReferenceCaption((), (), (), np.zeros((0, 4))),) * size
    )
    for n, size in enumerate(sizes)
  ]


def test_the_mode_follows_the_list_lengths_where_the_file_is_silent():
  assert grounding_report.eval_mode(submission_of(1, 1), references_of(5, 5)) == "gen"
  assert grounding_report.eval_mode(submission_of(5, 5), references_of(5, 5)) == "GT"
  assert grounding_report.eval_mode(submission_of(3, 5), references_of(5, 5)) == "gen"
  assert grounding_report.eval_mode(submission_of(1, 1), references_of(1, 1)) == "gen"


def test_the_files_own_mode_wins():
  submission = results_io.Submission(submission_of(1).results, "GT")
  assert grounding_report.eval_mode(submission, references_of(5)) == "GT"


def test_tables_stay_in_line():
  text = grounding_report.table(("class", "n"), [("dog", "1,000"), ("a", "2")])
  assert text.splitlines() == ["class      n", "------------", "dog    1,000", "a          2"]
