import pytest

from gcap_tf import errors
from gcap_tf.vision.detectors import catalog


def test_foreign_detectors_have_a_prefix():
  assert catalog.is_foreign("tflite:model.tflite")
  assert not catalog.is_foreign("shipped")
  assert not catalog.is_foreign("runs/detector")


def test_an_unknown_prefix_lists_the_known_ones():
  with pytest.raises(errors.UserError, match="detections, grid, keras_hub, saved_model, tflite"):
    catalog.open_detector("onnx:model.onnx")


@pytest.mark.parametrize("prefix", ["tflite", "saved_model", "detections"])
def test_a_missing_model_is_named(tmp_path, prefix):
  with pytest.raises(errors.UserError, match="nowhere"):
    catalog.open_detector(f"{prefix}:{tmp_path / 'nowhere'}")
