import keras

from gcap_tf.evaluation import detector_report
from gcap_tf.runs import checkpoints, detector_runs
from gcap_tf.vision import annotations, detector
from tests.vision import tiny_photographs


def test_figures_and_a_page_of_the_best_and_worst(tmp_path):
  keras.utils.set_random_seed(1)
  run = tmp_path / "run"
  detector_runs.write_config(
    run,
    tiny_photographs.CONFIG,
    tiny_photographs.WORDS,
    annotations.COLOURS,
    {"backbone_weights": "none"},
  )
  checkpoints.save(
    checkpoints.best_path(run), model=detector.Detector(tiny_photographs.CONFIG).learned
  )
  source, pictures = tiny_photographs.make(tmp_path, 1, 22)
  figures = detector_report.evaluate(run, source, pictures, "val", draw=tmp_path / "drawn")
  assert figures["pictures"] == 22 and figures["boxes"] == 44
  assert 0 <= figures["recall_36"] <= figures["recall_100"] <= 100
  assert {"ap50", "colour_top1", "milliseconds_per_picture"} <= set(figures)
  drawn = {path.name for path in (tmp_path / "drawn").iterdir()}
  assert len([name for name in drawn if name.startswith("best_")]) == 20
  assert len([name for name in drawn if name.startswith("worst_")]) == 2
  page = (tmp_path / "drawn" / "index.html").read_text()
  assert all(name in page for name in drawn if name.endswith(".png"))
