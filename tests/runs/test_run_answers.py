import json

import pytest

from gcap_tf import errors
from gcap_tf.decoding import confidence
from gcap_tf.runs import run_answers
from tests.export import tiny_runs

FITTED = confidence.Calibration((1.0, 2.0, 3.0, 4.0, 5.0), 0.5, (1.0, 2.0, 3.0), -1.0, 0.2, "val")


def test_a_calibration_survives_its_file(tmp_path):
  run_answers.write(tmp_path / "calibration.json", FITTED, {"word_ece": 1.5})
  assert run_answers.read(tmp_path / "calibration.json") == FITTED
  assert json.loads((tmp_path / "calibration.json").read_text())["figures"] == {"word_ece": 1.5}


def test_a_run_without_the_file_has_no_calibration(tmp_path):
  assert run_answers.read(tmp_path / "calibration.json") is None


def test_weights_of_other_evidence_are_refused(tmp_path):
  path = tmp_path / "calibration.json"
  run_answers.write(path, confidence.Calibration((1.0,), 0.0, (1.0, 2.0, 3.0), 0.0), {})
  with pytest.raises(errors.UserError, match="calibrate the run again"):
    run_answers.read(path)


def test_rules_follow_the_run_folder(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  run_answers.write(tmp_path / "calibration.json", FITTED, {})
  found = run_answers.rules(run)
  assert found.labels_only and found.calibration == FITTED
  assert "dog" in [run.vocabulary.words[index] for index in found.things]
  assert run_answers.rules(run, ("man",)).things == (run.vocabulary.ids["man"],)


def test_words_of_a_captioner_of_labels_point_by_the_names_of_boxes(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  ids, labels = run.vocabulary.ids, run.vocabulary.labels
  found = run_answers.rules(run, ("dog", "man")).pointing
  assert found.region_labels[0] == -1 and len(found.region_labels) == len(labels) + 1
  named = found.word_labels[ids["dog"]]
  assert named >= 0 and named == found.region_labels[labels.index("dog") + 1]
  assert [n for n, label in enumerate(found.word_labels) if label >= 0] == sorted(
    ids[word] for word in ("dog", "man") if word in labels
  )


def test_words_of_a_captioner_of_bare_features_point_by_attention(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=4, labelled=False)
  assert run_answers.rules(run, ("dog",)).pointing is None
