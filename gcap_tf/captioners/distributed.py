"""Distributed attention (Chen et al., arXiv:2108.01056): GVD with K = 4 branches.

`branches.py` has the equations. Every captioner of `topdown.py` has the option `branches`:
`updown` with `branches=4` is Distributed on Up-Down, and `cyclical` with `branches=4` combines
both papers. `elimination=False` turns elimination off.

The paper trains one branch first, then all (`training/first_stage.py` calls `grow`). Its
comparison with multi-head attention is `branches=1` with `heads=4`.
"""

import dataclasses

import keras

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.captioners import base, gvd


@dataclasses.dataclass(frozen=True)
class DistributedConfig(gvd.GVDConfig):
  """GVD's options, with four branches."""

  branches: configs.PositiveInt = 4


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("distributed")
class DistributedCaptioner(gvd.GVDCaptioner):
  Config = DistributedConfig


def grow(single: keras.Model, many: keras.Model) -> None:
  """Copies the weights of a captioner into one with more branches or a localiser.

  Its branch becomes the first branch. Weights that it does not have keep their initial values.
  All other weights must have equal sizes.
  """
  targets = {variable.path: variable for variable in many.variables}
  for source in single.variables:
    target = targets.get(source.path)
    if target is None or not _fits(source, target):
      found = "no such weight" if target is None else list(target.shape)
      raise errors.UserError(
        f"cannot grow: {source.path} is {list(source.shape)}, in the larger captioner {found}; "
        "all options but branches and localizer must be equal"
      )
    value = target.numpy()
    value[tuple(slice(size) for size in source.shape)] = source.numpy()
    target.assign(value)


def _fits(source: keras.Variable, target: keras.Variable) -> bool:
  if source.shape == target.shape:
    return True
  branched = "attention" in target.path and len(source.shape) == len(target.shape)
  return branched and all(a <= b for a, b in zip(source.shape, target.shape, strict=True))
