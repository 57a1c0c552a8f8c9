import numpy as np
import pytest

from gcap_tf.vision.detectors import base, catalog, union

_IMAGE = np.zeros((20, 20, 3), np.uint8)


class _Fixed(base.Detector):
  def __init__(self, *rows):
    super().__init__("fixed")
    boxes, labels, scores = zip(*rows, strict=True) if rows else ((), (), ())
    self._found = base.detections(np.array(boxes, np.float32), labels, np.array(scores))

  def detect(self, image, image_id):
    return self._found


_LEFT, _RIGHT, _TOP = [0, 0, 0.4, 1], [0.6, 0, 1, 1], [0, 0, 1, 0.2]


def test_sure_boxes_of_the_first_come_first():
  first = _Fixed((_LEFT, "dog", 0.4), (_TOP, "sky", 0.2))
  second = _Fixed((_RIGHT, "man", 0.9), ([0, 0, 0.41, 1], "pet", 0.8))
  found = union.Union("both", [first, second]).detect(_IMAGE, "1")
  assert found.labels == ("dog", "man", "sky")
  np.testing.assert_allclose(found.scores, [0.7, 0.45, 0.1], rtol=1e-6)


def test_nothing_found_is_nothing():
  found = union.Union("both", [_Fixed(), _Fixed()]).detect(_IMAGE, "1")
  assert found.boxes.shape == (0, 4) and found.labels == ()


@pytest.mark.parametrize("name", ["grid:5+shipped", "shipped+grid:5"])
def test_a_union_with_ours_is_opened_by_its_names(name):
  opened = []

  def open_run(run):
    opened.append(run)

  found = catalog.open_detector(name, open_run=open_run)
  assert isinstance(found, union.Union) and opened == ["shipped"]
  assert catalog.is_foreign(name) and not catalog.is_foreign("runs/a+b")
