import keras
import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.backbones import keras_applications


@pytest.fixture(scope="module")
def backbone():
  return keras_applications.KerasApplication("MobileNetV2")


def test_maps_have_their_strides(backbone):
  maps = backbone(np.zeros((1, 64, 96, 3), np.float32))
  assert {s: tuple(m.shape[1:3]) for s, m in maps.items()} == {8: (8, 12), 16: (4, 6), 32: (2, 3)}


def test_pixels_are_normalised_as_the_application_wants(backbone):
  canvas = np.array([0, 127.5, 255], np.float32).reshape(1, 1, 3, 1).repeat(3, -1)
  normal = backbone.get_layer("normalise")(canvas)
  np.testing.assert_allclose(normal[0, 0, :, 0], [-1, 0, 1])


def test_it_survives_saving_and_weights_come_from_a_file(backbone, tmp_path):
  canvas = np.random.default_rng(0).uniform(0, 255, (1, 64, 64, 3)).astype("float32")
  backbone.save(tmp_path / "m.keras")
  loaded = keras.models.load_model(tmp_path / "m.keras")
  np.testing.assert_array_equal(loaded(canvas)[8], backbone(canvas)[8])

  application = keras.applications.MobileNetV2(
    include_top=False, weights=None, input_shape=(None, None, 3)
  )
  application.save_weights(tmp_path / "w.weights.h5")
  local = keras_applications.KerasApplication("MobileNetV2", str(tmp_path / "w.weights.h5"))
  normal = keras.applications.mobilenet_v2.preprocess_input(canvas.copy())
  np.testing.assert_allclose(local(canvas)[32], application(normal), atol=1e-5)


def test_a_wrong_name_has_a_hint():
  with pytest.raises(errors.UserError, match=r'did you mean "keras:ResNet101"'):
    keras_applications.KerasApplication("ResNet11")


def test_a_missing_file_is_one_line(tmp_path):
  with pytest.raises(errors.UserError, match="give a file"):
    keras_applications.KerasApplication("MobileNetV2", str(tmp_path / "no.weights.h5"))


def test_names_are_those_of_keras():
  assert "ResNet101" in keras_applications.names()


def test_its_two_parts_give_the_same_maps(backbone):
  canvas = np.random.default_rng(0).uniform(0, 255, (1, 64, 64, 3)).astype("float32")
  lower, upper = backbone.parts()
  assert list(lower.channels) == [4]
  maps = upper(lower(canvas)[4])
  for stride, expected in backbone(canvas).items():
    np.testing.assert_allclose(maps[stride], expected, atol=1e-5)
