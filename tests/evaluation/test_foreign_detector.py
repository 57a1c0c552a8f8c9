from gcap_tf.evaluation import detector_report, foreign_detector
from tests.vision import tiny_photographs


def test_other_detectors_are_judged_by_recall_alone(tmp_path):
  source, pictures = tiny_photographs.make(tmp_path)
  figures = foreign_detector.evaluate("grid:36", source, pictures, "train")
  assert figures["pictures"] == 6 and figures["boxes"] == 12
  assert 0 < figures["recall_36"] == figures["recall_100"] <= 100
  assert not {"label_top1", "colour_top1"} & set(figures)
  again = detector_report.evaluate("grid:36", source, pictures, "train")
  assert again["recall_36"] == figures["recall_36"]
