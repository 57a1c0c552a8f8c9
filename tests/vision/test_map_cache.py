import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision import canvas, map_cache, pictures
from gcap_tf.vision.backbones import efficientnet_lite
from tests.vision import tiny_photographs


@pytest.fixture(scope="module")
def backbone():
  return efficientnet_lite.EfficientNetLite(0.25, 0.5, name="tiny")


def _cache(folder, backbone, paths, views=2):
  ids = [path.stem for path in paths]
  return map_cache.MapCache(folder / "cache", backbone, ids, paths, 64, views)


def _paths(folder, count=10):
  return sorted(tiny_photographs.make(folder, count, 1)[1].glob("*.jpg"))[:count]


def test_maps_are_those_of_the_backbone_in_float16(tmp_path, backbone):
  paths = _paths(tmp_path)
  found = _cache(tmp_path, backbone, paths).fill().read(np.array([9, 0]), np.array([1, 0]))
  for number, (row, view) in enumerate(((9, 1), (0, 0))):
    image = pictures.read(paths[row])
    placed, content = canvas.place(image[:, ::-1] if view else image, 64)
    for stride, expected in backbone(placed[None]).items():
      kept = found[f"map_{stride}"][number]
      assert kept.dtype == np.float16
      np.testing.assert_allclose(kept, expected[0], rtol=2e-3, atol=2e-3)
    np.testing.assert_array_equal(found["content"][number], content)
  assert found["picture"].shape == (2, 16, 16, 3)


def test_a_fill_that_was_stopped_goes_on(tmp_path, backbone):
  paths = _paths(tmp_path)
  whole = _cache(tmp_path, backbone, paths).fill()
  expected = whole.read(np.arange(10), np.zeros(10, int))["map_8"].copy()
  index = tmp_path / "cache" / "index.json"
  about = json.loads(index.read_text())
  index.write_text(json.dumps(about | {"done": 8}))
  for name in ("map_8", "map_16"):
    array = np.load(tmp_path / "cache" / f"{name}.npy", mmap_mode="r+")
    array[8:] = 7
    array.flush()
  again = _cache(tmp_path, backbone, paths).fill()
  np.testing.assert_array_equal(again.read(np.arange(10), np.zeros(10, int))["map_8"], expected)


def test_maps_of_other_pictures_are_refused(tmp_path, backbone):
  paths = _paths(tmp_path, 3)
  _cache(tmp_path, backbone, paths).fill()
  with pytest.raises(errors.UserError, match="--cache"):
    _cache(tmp_path, backbone, paths[:2])
  with pytest.raises(errors.UserError, match="--cache"):
    _cache(tmp_path, backbone, paths, views=1)


def test_maps_of_a_batch_become_float32():
  batch = {"map_8": np.ones((1, 2, 2, 3), np.float16), "content": np.ones((1, 2))}
  maps = map_cache.maps_of(batch)
  assert sorted(maps) == [8] and maps[8].dtype == np.float32


def test_maps_of_other_weights_are_refused(tmp_path, backbone):
  paths = _paths(tmp_path, 2)
  _cache(tmp_path, backbone, paths).fill()
  other = efficientnet_lite.EfficientNetLite(0.25, 0.5, name="tiny")
  with pytest.raises(errors.UserError, match="another backbone"):
    _cache(tmp_path, other, paths)
