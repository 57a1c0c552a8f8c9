import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import checkpoints, detector_runs, packed_weights
from gcap_tf.vision import annotations, detector
from tests.vision import tiny_photographs


def _run(folder):
  model = detector.Detector(tiny_photographs.CONFIG)
  detector_runs.write_config(
    folder,
    tiny_photographs.CONFIG,
    tiny_photographs.WORDS,
    annotations.COLOURS,
    {"backbone_weights": "none"},
  )
  checkpoints.save(checkpoints.best_path(folder), model=model.learned)
  return model


def test_a_run_is_loaded_and_packed(tmp_path):
  model = _run(tmp_path / "run")
  detector_runs.pack(tmp_path / "run", tmp_path / "packed")
  assert not (tmp_path / "packed" / "checkpoints").exists()
  for folder, tolerance in (("run", 0), ("packed", 1e-3)):
    found = detector_runs.load(tmp_path / folder)
    assert found.labels == tiny_photographs.WORDS and found.colours == annotations.COLOURS
    for ours, theirs in zip(model.head.weights, found.detector.head.weights, strict=True):
      np.testing.assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance)
  # The backbone's weights come from elsewhere: they are not in the file.
  arrays = packed_weights.read_arrays(packed_weights.path_of(tmp_path / "packed"))
  assert len(arrays) == len(model.head.weights)


def test_a_backbone_of_a_file_is_packed_too(tmp_path):
  model = _run(tmp_path / "run")
  model.backbone.save_weights(tmp_path / "own.weights.h5")
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  config["backbone_weights"] = str(tmp_path / "own.weights.h5")
  del config["checksum"]
  (tmp_path / "run" / "config.json").write_text(json.dumps(config))
  detector_runs.pack(tmp_path / "run", tmp_path / "packed")
  assert str(tmp_path) not in (tmp_path / "packed" / "config.json").read_text()
  detector_runs.copy_backbone(tmp_path / "packed", tmp_path / "run")
  for folder in ("packed", "run"):
    found = detector_runs.load(tmp_path / folder).detector.backbone
    for ours, theirs in zip(model.backbone.weights, found.weights, strict=True):
      np.testing.assert_allclose(theirs, ours, atol=np.abs(ours).max() / 250)


def test_what_is_no_detector_is_one_line(tmp_path):
  with pytest.raises(errors.UserError, match=r"no config\.json"):
    detector_runs.load(tmp_path)
  (tmp_path / "config.json").write_text(json.dumps({"kind": "captioner"}))
  with pytest.raises(errors.UserError, match="holds a captioner"):
    detector_runs.load(tmp_path)


def test_a_run_without_weights_is_one_line(tmp_path):
  detector_runs.write_config(
    tmp_path, tiny_photographs.CONFIG, ("a", "b"), (), {"backbone_weights": "none"}
  )
  with pytest.raises(errors.UserError, match="no weights yet"):
    detector_runs.load(tmp_path)
