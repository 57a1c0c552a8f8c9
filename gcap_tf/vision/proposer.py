"""Proposals: objectness and a box at every cell of three maps (one stage, anchor-free).

The shape is that of FCOS (Tian et al., ICCV 2019, arXiv:1904.01355) on a small feature
pyramid (Lin et al., CVPR 2017, arXiv:1612.03144):

    standardised map -> 1x1 to `width`          for strides 8, 16 and 32
    top = lateral 32 + the whole picture's mean, added down to 16 and 8
    `depth` separable 3x3 convolutions a level -> objectness and box code at each cell
    the last convolution's numbers at each cell: its vector, for whoever names cells

Objectness is one number: how well the best annotated box would overlap (`losses/detection.py`).
"""

import keras
from keras import layers

from gcap_tf.layers import map_norm

_FIRST_LOGIT = -4.0  # Nearly every cell is background: sigmoid(-4) = 0.018.


def build(channels: dict[int, int], size: int, width: int, depth: int) -> keras.Model:
  """A functional model from a list of maps, finest first, to cells.

  It returns "logits" [B, P], "codes" [B, P, 4] and "vectors" [B, P, width].

  Args:
    channels: {stride: channels of the map}.
    size: side of the canvas, a multiple of the largest stride.
    width: channels of every layer.
    depth: convolutions a level.
  """
  maps = {
    stride: keras.Input((size // stride, size // stride, channels[stride]), name=f"map_{stride}")
    for stride in sorted(channels)
  }
  towers = {
    stride: _tower(level, width, depth, stride) for stride, level in _pyramid(maps, width).items()
  }
  found = [_predict(tower, size // stride, stride) for stride, tower in towers.items()]
  cells = layers.Concatenate(1, name="cells")(found)  # [B, P, 5]
  vectors = [
    layers.Reshape((-1, width), name=f"vectors_{stride}")(tower) for stride, tower in towers.items()
  ]
  return keras.Model(
    list(maps.values()),
    {
      "logits": cells[..., 0],
      "codes": cells[..., 1:],
      "vectors": layers.Concatenate(1, name="vectors")(vectors),
    },
    name="proposer",
  )


def _pyramid(maps, width: int):
  """{stride: level}, finest first, each knowing what the coarser ones see."""
  standard = {
    stride: map_norm.MapNorm(False, name=f"standard_{stride}")(x) for stride, x in maps.items()
  }
  *finer, coarsest = sorted(maps)
  whole = layers.GlobalAveragePooling2D(keepdims=True, name="whole")(standard[coarsest])
  above = layers.Conv2D(width, 1, name="whole_to_top")(whole)
  levels = {}
  for stride in (coarsest, *reversed(finer)):
    lateral = layers.Conv2D(width, 1, use_bias=False, name=f"lateral_{stride}")(standard[stride])
    lateral = map_norm.MapNorm(name=f"lateral_{stride}_norm")(lateral)
    level = layers.ReLU(name=f"level_{stride}")(lateral + above)
    levels[stride] = level
    above = layers.UpSampling2D(name=f"above_{stride}")(level)
  return {stride: levels[stride] for stride in sorted(levels)}


def _tower(x, width: int, depth: int, stride: int):
  for number in range(depth):
    name = f"tower_{stride}_{number}"
    x = layers.SeparableConv2D(width, 3, padding="same", use_bias=False, name=name)(x)
    x = layers.ReLU(name=f"{name}_relu")(map_norm.MapNorm(name=f"{name}_norm")(x))
  return x


def _predict(x, side: int, stride: int):
  small = keras.initializers.RandomNormal(stddev=0.01)
  logit = layers.Conv2D(
    1,
    1,
    kernel_initializer=small,
    bias_initializer=keras.initializers.Constant(_FIRST_LOGIT),
    name=f"objectness_{stride}",
  )(x)
  code = layers.Conv2D(4, 1, kernel_initializer=small, name=f"box_{stride}")(x)
  both = layers.Concatenate(name=f"predicted_{stride}")([logit, code])
  return layers.Reshape((side * side, 5), name=f"cells_{stride}")(both)
