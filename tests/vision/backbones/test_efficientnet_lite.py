import keras
import numpy as np
import pytest

from gcap_tf.vision.backbones import efficientnet_lite


def test_lite0_has_the_published_widths_and_blocks():
  stages = efficientnet_lite.scaled_stages(1.0, 1.0)
  assert [(stage.width, stage.blocks) for stage in stages] == [
    *[(16, 1), (24, 2), (40, 2), (80, 3), (112, 3), (192, 4), (320, 1)]
  ]


def test_lite2_scales_widths_to_multiples_of_eight_but_not_the_first_and_last_depth():
  stages = efficientnet_lite.scaled_stages(1.1, 1.2)
  assert [(stage.width, stage.blocks) for stage in stages] == [
    *[(16, 1), (24, 3), (48, 3), (88, 4), (120, 4), (208, 5), (352, 1)]
  ]


@pytest.mark.parametrize(("width", "expected"), [(7, 8), (11, 16), (12, 16), (20, 24), (43, 40)])
def test_widths_round_to_eights_and_never_below_nine_tenths(width, expected):
  assert efficientnet_lite.round_width(width) == expected


def test_maps_have_their_strides_and_survive_saving(tmp_path):
  model = efficientnet_lite.EfficientNetLite(0.5, 0.5)
  canvas = np.random.default_rng(0).uniform(0, 255, (2, 64, 96, 3)).astype("float32")
  maps = model(canvas)
  for stride in (8, 16, 32):
    assert tuple(maps[stride].shape) == (2, 64 // stride, 96 // stride, model.channels[stride])
  model.save(tmp_path / "m.keras")
  loaded = keras.models.load_model(tmp_path / "m.keras")
  assert loaded.get_config() == model.get_config()
  for stride, expected in maps.items():
    np.testing.assert_array_equal(loaded(canvas)[stride], expected)
