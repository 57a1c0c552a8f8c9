import sys

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.detectors import keras_hub


def _small_preset(folder) -> None:
  """A RetinaNet with random weights, as KerasHub saves it."""
  hub = pytest.importorskip("keras_hub", reason="KerasHub is not installed")
  encoder = hub.models.ResNetBackbone(
    input_conv_filters=[64],
    input_conv_kernel_sizes=[7],
    stackwise_num_filters=[64, 8, 8, 8],
    stackwise_num_blocks=[1, 1, 1, 1],
    stackwise_num_strides=[1, 2, 2, 2],
    block_type="basic_block",
    image_shape=(None, None, 3),
  )
  backbone = hub.models.RetinaNetBackbone(encoder, min_level=3, max_level=5, use_p5=False)
  converter = hub.layers.RetinaNetImageConverter(
    image_size=(64, 64), scale=1 / 255, bounding_box_format="yxyx"
  )
  preprocessor = hub.models.RetinaNetObjectDetectorPreprocessor(image_converter=converter)
  detector = hub.models.RetinaNetObjectDetector(
    backbone=backbone, num_classes=80, preprocessor=preprocessor, bounding_box_format="yxyx"
  )
  detector.prediction_decoder.confidence_threshold = 0.0
  detector.save_to_preset(str(folder))


def test_a_preset_on_disk_detects(tmp_path):
  _small_preset(tmp_path)
  detector = keras_hub.KerasHubDetector(str(tmp_path))
  image = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
  found = detector.detect(image, "any")
  assert 0 < len(found.boxes) == len(found.labels) == len(found.scores)
  assert found.boxes.min(initial=0) >= 0 and found.boxes.max(initial=0) <= 1
  assert (np.diff(found.scores) <= 0).all()
  assert all(found.labels)


def test_a_preset_that_does_not_load_is_named(tmp_path):
  pytest.importorskip("keras_hub", reason="KerasHub is not installed")
  with pytest.raises(errors.UserError, match="nothing_here"):
    keras_hub.KerasHubDetector(str(tmp_path / "nothing_here"))


def test_without_kerashub_the_line_to_install_it_is_shown(monkeypatch):
  monkeypatch.setitem(sys.modules, "keras_hub", None)
  with pytest.raises(errors.UserError, match="pip install"):
    keras_hub.KerasHubDetector("any")
