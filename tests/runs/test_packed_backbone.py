import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import packed_backbone
from gcap_tf.vision.backbones import efficientnet_lite


def _backbone():
  return efficientnet_lite.EfficientNetLite(0.25, 0.5, name="tiny")


def test_kernels_of_whole_numbers_come_back_exactly(tmp_path):
  first, second = _backbone(), _backbone()
  rng = np.random.default_rng(0)
  for layer in first.layers:
    if layer.weights:
      whole = rng.integers(-126, 127, layer.kernel.shape).astype(np.float32)
      whole[0, 0] = 127
      layer.set_weights([whole * np.float32(2**-9), rng.normal(size=layer.bias.shape)])
  packed_backbone.save(tmp_path / "backbone.npz", first)
  packed_backbone.restore(tmp_path / "backbone.npz", second)
  for one, other in zip(first.get_weights(), second.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shape", [(3, 3, 4, 5), (5, 5, 6, 1)])
def test_other_kernels_are_within_half_a_scale(shape):
  kernel = np.random.default_rng(1).normal(size=shape).astype(np.float32)
  whole, scale = packed_backbone.quantise(kernel)
  assert whole.dtype == np.int8 and scale.size == max(shape[-1], shape[-2] * (shape[-1] == 1))
  assert (np.abs(whole * scale - kernel) <= scale * 0.501).all()


def test_a_channel_of_zeros_stays_so():
  whole, scale = packed_backbone.quantise(np.zeros([1, 1, 2, 3], np.float32))
  assert not (whole * scale).any()


def test_a_file_that_does_not_fit_is_one_line(tmp_path):
  path, small = tmp_path / "backbone.npz", efficientnet_lite.EfficientNetLite(0.5, 0.5)
  packed_backbone.save(path, small)
  with pytest.raises(errors.UserError, match="does not fit the backbone"):
    packed_backbone.restore(path, _backbone())
  np.savez(path, **{"stem/kernel": np.zeros(3)})
  with pytest.raises(errors.UserError, match="does not fit the backbone"):
    packed_backbone.restore(path, _backbone())
  path.write_bytes(b"PK nothing")
  with pytest.raises(errors.UserError, match="not a numpy"):
    packed_backbone.restore(path, _backbone())
