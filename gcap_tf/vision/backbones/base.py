"""What every backbone is: a Keras model from a canvas to maps of several strides.

    maps = backbone(canvas)     canvas [B, S, S, 3] float32, RGB from 0 to 255
                                maps {8: [B, S/8, S/8, C8], 16: ..., 32: ...}

Each backbone normalises the pixels itself, as its weights want it. It can be cut in two, so
that its first layers, whose weights stay as they are, run once for each picture and only the others
run at every step of training:

    maps = upper(x)    {stride: x} = lower(canvas)
"""

from collections.abc import Callable

import keras

from gcap_tf import registry

STRIDES = (8, 16, 32)

# Name -> function (weights: str) that returns the backbone.
BACKBONES: registry.Registry[Callable[[str], keras.Model]] = registry.Registry("backbone")


class Backbone(keras.Model):
  """A functional model from a canvas to `{stride: map}`.

  Attributes:
    channels: {stride: number of channels of that map}.
  """

  @property
  def channels(self) -> dict[int, int]:
    return {stride: int(output.shape[-1]) for stride, output in self.output.items()}

  def parts(self) -> tuple["Backbone", keras.Model]:
    """(lower, upper), two models that share this one's layers; see the top of the file."""
    raise NotImplementedError


def cut(backbone: Backbone, tensor: keras.KerasTensor, stride: int) -> tuple[Backbone, keras.Model]:
  """The two parts of a functional backbone before and after a tensor."""
  lower = Backbone(backbone.input, {stride: tensor}, name=backbone.name)
  return lower, keras.Model(tensor, backbone.output, name=f"{backbone.name}_upper")
