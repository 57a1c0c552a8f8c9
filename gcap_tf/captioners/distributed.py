"""Distributed attention (Chen et al., arXiv:2108.01056): GVD with K = 4 branches.

What branches do is in `branches.py`; any captioner of `topdown.py` takes them through its
option `branches`, so `updown` with `branches=4` is Distributed on Up-Down, and `cyclical`
with `branches=4` both papers at once. Elimination off is the option `elimination`.

The paper trains one branch first, then all: train with `branches=1`, then `grow`.
"""

import dataclasses

import keras

from gcap_tf import errors
from gcap_tf.captioners import base, gvd


@dataclasses.dataclass(frozen=True)
class DistributedConfig(gvd.GVDConfig):
  branches: int = 4


@base.CAPTIONERS.register("distributed")
class DistributedCaptioner(gvd.GVDCaptioner):
  Config = DistributedConfig


def grow(single: keras.Model, many: keras.Model) -> None:
  """Copies a captioner of one branch into one of K: its branch becomes the first.

  The other branches keep their fresh weights. All else must be of the same size.
  """
  sources, targets = single.variables, many.variables
  if len(sources) != len(targets):
    raise errors.UserError(
      f"cannot grow branches: {len(sources)} weights against {len(targets)}; "
      "all options but branches must be equal"
    )
  for source, target in zip(sources, targets, strict=True):
    if source.shape == target.shape:
      target.assign(source)
      continue
    branched = "attention" in target.path and len(source.shape) == len(target.shape)
    if not branched or any(a > b for a, b in zip(source.shape, target.shape, strict=True)):
      raise errors.UserError(
        f"cannot grow branches: {target.path} is {list(target.shape)}, the single branch has "
        f"{list(source.shape)}; all options but branches must be equal"
      )
    value = target.numpy()
    value[tuple(slice(size) for size in source.shape)] = source.numpy()
    target.assign(value)
