import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision import canvas, detector
from tests.vision import tiny_photographs


@pytest.fixture(scope="module")
def model():
  keras.utils.set_random_seed(1)
  return detector.Detector(tiny_photographs.CONFIG)


def _canvases(count=2):
  rng = np.random.default_rng(0)
  placed = [canvas.place(rng.integers(0, 256, (40, 64, 3), np.uint8), 64) for _ in range(count)]
  return tf.stack([p for p, _ in placed]), tf.stack([c for _, c in placed])


def test_regions_have_the_promised_shapes_and_lie_in_the_picture(model):
  found = model.detect(*_canvases(), regions=5)
  assert found["boxes"].shape == (2, 5, 4) and found["scores"].shape == (2, 5)
  assert found["label_probs"].shape == (2, 5, 2) and found["colour_probs"].shape == (2, 5, 11)
  assert found["region_mask"].shape == (2, 5) and sorted(found["maps"]) == [8, 16, 32]
  boxes = found["boxes"].numpy()
  assert boxes.min() >= 0 and boxes.max() <= 1
  scores = found["scores"].numpy()
  np.testing.assert_array_equal(scores[:, 0], scores.max(1))
  np.testing.assert_allclose(np.sum(found["label_probs"], -1), 1, rtol=1e-5)


def test_an_answer_does_not_depend_on_the_batch_and_is_the_same_in_a_graph(model):
  canvases, content = _canvases()
  together = model.detect(canvases, content, 5)
  alone = model.detect(canvases[1:], content[1:], 5)
  graph = tf.function(lambda x, c: model.detect(x, c, 5))(canvases[1:], content[1:])
  for name in ("boxes", "scores", "label_probs", "colour_probs"):
    np.testing.assert_allclose(together[name][1:], alone[name], atol=1e-5)
    np.testing.assert_allclose(graph[name], alone[name], atol=1e-5)


def test_cells_beside_the_photograph_propose_nothing(model):
  on = model.head.on_picture(tf.constant([[1.0, 0.625]])).numpy()[0]
  points = model.head.points.numpy()
  np.testing.assert_array_equal(on, points[:, 1] < 0.625)


def test_the_backbone_is_frozen_and_the_head_learns(model):
  assert not model.backbone.trainable_variables
  assert len(model.trainable_variables) == len(model.head.trainable_variables) > 0


@pytest.mark.parametrize(("stride", "last"), [(8, 4), (16, 10), (32, 15)])
def test_tuned_layers_end_at_the_map_of_their_stride(stride, last):
  config = dataclasses.replace(tiny_photographs.CONFIG, tuned_stride=stride)
  tuned = detector.Detector(config).learned.tuned
  blocks = {int(layer.name.split("_")[1]) for layer in tuned}
  assert blocks == set(range(4, last + 1))


def test_what_the_frozen_part_gives_makes_the_same_maps():
  config = dataclasses.replace(tiny_photographs.CONFIG, tuned_stride=16)
  model = detector.Detector(config)
  canvases, _ = _canvases()
  cached = model.frozen(canvases)
  assert list(cached) == [8]
  for stride, expected in model.backbone(canvases).items():
    np.testing.assert_allclose(model.maps(cached)[stride], expected, atol=1e-6)


def test_it_survives_saving(model, tmp_path):
  model.save(tmp_path / "m.keras")
  loaded = keras.models.load_model(tmp_path / "m.keras")
  assert loaded.get_config() == model.get_config()
  canvases, content = _canvases()
  for name, value in model.detect(canvases, content, 4).items():
    if name != "maps":
      np.testing.assert_allclose(loaded.detect(canvases, content, 4)[name], value, atol=1e-6)


def test_a_wrong_option_has_a_hint():
  with pytest.raises(errors.UserError, match='did you mean "width"'):
    detector.Detector({"widht": 8})
