"""Tests of gcap_tf/evaluation/captioner_report.py."""

import json

from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_report
from gcap_tf.runs import run_folders
from tests.training import fine_tuned, small_runs


def test_a_report_holds_caption_and_grounding_figures_and_writes_its_files(tmp_path):
  data = small_runs.data(tmp_path)
  fine_tuned.captioner(tmp_path / "run", data, "updown", attention_size=6)
  config = captioner_report.ReportConfig(
    decode=decode_config.DecodeConfig(min_length=4),
    metrics=("bleu", "cider"),
    captions_path=str(tmp_path / "captions.json"),
    grounding_path=str(tmp_path / "grounding.json"),
    self_retrieval=4,
  )
  report = captioner_report.evaluate(run_folders.load(tmp_path / "run"), data.split("val"), config)
  assert {"bleu_4", "cider", "f1_all", "f1_loc", "f1_loc_per_sentence"} <= report.values.keys()
  assert {"attention_accuracy", "precision_all", "recall_loc"} <= report.values.keys()
  captions = json.loads((tmp_path / "captions.json").read_text())
  assert len(captions) == 5 and set(captions[0]) == {"image_id", "caption"}
  submission = json.loads((tmp_path / "grounding.json").read_text())
  assert submission["eval_mode"] == "gen" and len(submission["results"]) == 5
  assert {"novel_captions", "chair_i", "self_retrieval_1", "self_retrieval_500"} <= set(
    report.values
  )
  assert "distinctiveness: " in report.text and "hallucination: " in report.text
  json.dumps(report.values)


def test_data_without_boxes_is_scored_on_captions_alone(tmp_path):
  data = small_runs.data(tmp_path, boxes=False)
  fine_tuned.captioner(tmp_path / "run", data, "updown", attention_size=6)
  config = captioner_report.ReportConfig(decode_config.DecodeConfig(), metrics=("cider",))
  report = captioner_report.evaluate(run_folders.load(tmp_path / "run"), data.split("val"), config)
  assert "cider" in report.values and "f1_all" not in report.values
  assert "grounding not computed" in report.text


def test_every_seed_has_files_of_its_own():
  config = captioner_report.ReportConfig(
    decode_config.DecodeConfig(), captions_path="out/captions.json"
  )
  own = captioner_report.of_seed(config, 3)
  assert own.captions_path == "out/captions_seed_3.json" and own.grounding_path == ""
