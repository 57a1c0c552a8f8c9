import keras

from gcap_tf.vision.backbones import base


def test_channels_are_those_of_the_maps():
  canvas = keras.Input((64, 64, 3))
  maps = {8: keras.layers.Conv2D(5, 1, 8)(canvas), 16: keras.layers.Conv2D(7, 1, 16)(canvas)}
  assert base.Backbone(canvas, maps).channels == {8: 5, 16: 7}
