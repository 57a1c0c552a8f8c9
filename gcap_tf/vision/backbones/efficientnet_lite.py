"""EfficientNet-Lite (Tan and Le, ICML 2019, arXiv:1905.11946; the Lite variant of its authors).

Lite drops squeeze-and-excitation, uses ReLU6, and scales neither the stem nor the number of
blocks in the first and last stage. A block of expansion t is

    y = project(depthwise(expand(x)))        expand: 1x1 to t * C, ReLU6 (absent if t = 1)
    y = y + x  if stride 1 and equal widths  depthwise: k x k, ReLU6; project: 1x1, linear

Batch normalisation is folded into the convolutions, which is exact for frozen statistics.
The classifier and the last 1x1 convolution (1,280 channels) are left out.
"""

import dataclasses
import math

import keras
from keras import layers

from gcap_tf.vision.backbones import base

_CUT = 8  # After the first block of this stride: half of the work, a sixth of the weights.
PIXEL_MEAN, PIXEL_SCALE = 127.0, 128.0


@dataclasses.dataclass(frozen=True)
class Stage:
  """Blocks of one width; the first has the stride."""

  kernel: int
  stride: int
  expansion: int
  width: int
  blocks: int


STAGES = (
  Stage(3, 1, 1, 16, 1),
  Stage(3, 2, 6, 24, 2),
  Stage(5, 2, 6, 40, 2),
  Stage(3, 2, 6, 80, 3),
  Stage(5, 1, 6, 112, 3),
  Stage(5, 2, 6, 192, 4),
  Stage(3, 1, 6, 320, 1),
)


@keras.saving.register_keras_serializable(package="gcap_tf")
class EfficientNetLite(base.Backbone):
  """Maps of stride 8, 16 and 32 (40, 112 and 320 channels for Lite0)."""

  def __init__(self, width: float = 1.0, depth: float = 1.0, **kwargs):
    canvas = keras.Input((None, None, 3), name="canvas")
    x = layers.Rescaling(1 / PIXEL_SCALE, -PIXEL_MEAN / PIXEL_SCALE, name="normalise")(canvas)
    x = layers.Conv2D(32, 3, 2, "same", name="stem")(x)
    x = layers.ReLU(6.0, name="stem_relu")(x)
    maps, first, stride, number = {}, {}, 2, 0
    for stage in scaled_stages(width, depth):
      for index in range(stage.blocks):
        step = stage.stride if index == 0 else 1
        x = _block(x, stage, step, f"block_{number}")
        number, stride = number + 1, stride * step
        first.setdefault(stride, x)
      maps[stride] = x  # The last stage of a stride wins.
    super().__init__(canvas, {stride: maps[stride] for stride in base.STRIDES}, **kwargs)
    self.width, self.depth = width, depth
    self._cut = first[_CUT]

  def parts(self):
    return base.cut(self, self._cut, _CUT)

  def get_config(self):
    return {"width": self.width, "depth": self.depth, "name": self.name}

  @classmethod
  def from_config(cls, config, custom_objects=None):
    del custom_objects
    return cls(**config)


def scaled_stages(width: float, depth: float) -> tuple[Stage, ...]:
  """The stages of a variant: widths scale by `width`, numbers of inner blocks by `depth`."""
  last = len(STAGES) - 1
  return tuple(
    dataclasses.replace(
      stage,
      width=round_width(stage.width * width),
      blocks=stage.blocks if number in (0, last) else math.ceil(stage.blocks * depth),
    )
    for number, stage in enumerate(STAGES)
  )


def round_width(width: float) -> int:
  """The nearest multiple of 8 that is not below nine tenths of `width`."""
  rounded = max(8, int(width + 4) // 8 * 8)
  return rounded + 8 if rounded < 0.9 * width else rounded


def _block(x, stage: Stage, stride: int, name: str):
  y, channels = x, x.shape[-1]
  if stage.expansion != 1:
    y = layers.Conv2D(channels * stage.expansion, 1, name=f"{name}_expand")(y)
    y = layers.ReLU(6.0, name=f"{name}_expand_relu")(y)
  y = layers.DepthwiseConv2D(stage.kernel, stride, "same", name=f"{name}_depthwise")(y)
  y = layers.ReLU(6.0, name=f"{name}_depthwise_relu")(y)
  y = layers.Conv2D(stage.width, 1, name=f"{name}_project")(y)
  if stride == 1 and channels == stage.width:
    y = layers.Add(name=f"{name}_add")([y, x])
  return y
