"""Tests of gcap_tf/evaluation/error_pictures.py."""

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors
from gcap_tf.evaluation import error_pictures
from gcap_tf.metrics import results_io

DOG = np.array([20, 20, 60, 60], np.float32)
REGIONS = {
  "correct": [22, 20, 60, 60],
  "partial": [20, 20, 30, 30],
  "enlarged": [0, 0, 90, 90],
  "deviated": [70, 70, 80, 80],
}


def reference(image):
  caption = results_io.ReferenceCaption(("a", "dog"), (1,), ("dog",), DOG[None])
  return results_io.Reference(image, (caption,))


def test_every_word_is_of_one_kind():
  for kind, region in REGIONS.items():
    assert error_pictures.kind_of(np.array(region, np.float32), DOG) == kind


def test_a_sheet_for_each_kind_is_drawn(tmp_path):
  predictions = {
    kind: [results_io.predicted_caption(["dog", "cat"], np.array([region, region]))]
    for kind, region in REGIONS.items()
  }
  found = error_pictures.examples([reference(kind) for kind in REGIONS], predictions)
  assert {kind: [row[0] for row in rows] for kind, rows in found.items()} == {
    kind: [kind] for kind in REGIONS
  }
  for kind in ("correct", "partial"):
    Image.new("RGB", (50, 50), "white").save(tmp_path / f"{kind}.jpg")
  sizes = dict.fromkeys(REGIONS, (100.0, 100.0))
  written = error_pictures.write(tmp_path / "out", tmp_path, sizes, found)
  assert [path.name for path in written] == ["correct.jpg", "partial.jpg"]
  assert Image.open(written[0]).width > 100


def test_a_missing_folder_is_named(tmp_path):
  with pytest.raises(errors.UserError, match="is not a folder of photographs"):
    error_pictures.write(tmp_path, tmp_path / "none", {}, {})
