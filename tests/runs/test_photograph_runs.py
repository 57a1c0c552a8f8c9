import shutil

import pytest

from gcap_tf import errors, files
from gcap_tf.runs import photograph_runs
from tests.export import picture_captioner
from tests.vision import small_detector


def test_a_run_finds_the_detector_that_it_names_or_its_own_copy(tmp_path):
  run = picture_captioner.write(tmp_path)
  found = photograph_runs.load(run)
  assert found.detector.folder == tmp_path / "eyes" and found.recipe.regions == 6
  assert found.foreign == "" and found.run.name == "updown"
  shutil.move(tmp_path / "eyes", run / "detector")
  config = run / "detector" / "config.json"
  values = files.read_sealed_json(config, "options")
  values["backbone_weights"] = str(run / "detector" / "backbone.weights.h5")
  files.write_sealed_json(config, values)
  assert photograph_runs.load(found.run).detector.folder == run / "detector"


def test_a_detector_that_is_gone_is_named(tmp_path):
  run = picture_captioner.write(tmp_path, regions=picture_captioner.record("runs/gone"))
  with pytest.raises(errors.UserError, match=r"runs/gone.*is not there.*--detector=RUN"):
    photograph_runs.load(run)
  assert photograph_runs.load(run, str(tmp_path / "eyes")).detector.labels == small_detector.LABELS


def test_other_weights_are_reported(tmp_path, caplog):
  record = picture_captioner.record(str(tmp_path / "eyes"), fingerprint="0123456789abcdef")
  photograph_runs.load(picture_captioner.write(tmp_path, regions=record))
  assert "has other weights than the one that made the regions" in caplog.text


def test_another_programs_detector_finds_and_ours_describes(tmp_path):
  run = picture_captioner.write(tmp_path)
  found = photograph_runs.load(run, "grid:20")
  assert found.foreign == "grid:20" and found.detector.folder == tmp_path / "eyes"
