import pytest

from gcap_tf import errors
from gcap_tf.vision.backbones import catalog


def test_backbones_are_made_by_name():
  assert catalog.create("lite0", "none").channels == {8: 40, 16: 112, 32: 320}
  assert catalog.create("keras:MobileNetV2", "none").channels == {8: 192, 16: 576, 32: 1280}


def test_a_wrong_name_lists_the_right_ones():
  with pytest.raises(errors.UserError, match=r'known: lite0, lite2 \(did you mean "lite0"'):
    catalog.create("lite00")
