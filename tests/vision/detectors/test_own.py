import types

import numpy as np

from gcap_tf.vision import canvas
from gcap_tf.vision.detectors import own
from tests.vision import small_detector


def detector_with_clear_scores():
  """Cells of an untrained head score nearly alike, and rounding would decide their order."""
  model = small_detector.make.__wrapped__()
  rng = np.random.default_rng(1)
  for weight in model.weights:
    if weight.path.startswith("objectness") and weight.path.endswith("kernel"):
      weight.assign(rng.normal(0, 1e5, weight.shape))
  return model


def test_it_gives_the_boxes_and_best_labels_of_the_detector():
  model = detector_with_clear_scores()
  run = types.SimpleNamespace(
    detector=model, labels=small_detector.LABELS, colours=small_detector.COLOURS
  )
  image = np.random.default_rng(0).integers(0, 256, (60, 80, 3)).astype(np.uint8)
  found = own.OwnDetector("ours", run).detect(image, "1")
  placed, content = canvas.place(image, small_detector.SIZE)
  expected = model.detect(placed[None], content[None], 100)
  real = expected["region_mask"][0].numpy()
  boxes = expected["boxes"][0].numpy()[real]
  whole = (boxes[:, 2:] > boxes[:, :2]).all(1)
  np.testing.assert_allclose(found.boxes, boxes[whole], atol=1e-5)
  labels = np.argmax(expected["label_probs"][0].numpy()[real][whole], 1)
  assert found.labels == tuple(small_detector.LABELS[label] for label in labels)
