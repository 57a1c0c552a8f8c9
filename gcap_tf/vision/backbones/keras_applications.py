"""Any model of `keras.applications` as a backbone: `keras:ResNet101`.

The map of a stride is the output of the last layer that has that stride. Which layers these are is
read off the model itself, built once for a 256 x 256 picture and without weights.
"""

import difflib
import inspect
import types

import keras

from gcap_tf import errors
from gcap_tf.vision.backbones import base

_PROBE = 256
_CUT = 4  # After the last layer of this stride.
_FROZEN = "; train with it frozen: --set model.tuned_stride=0"


@keras.saving.register_keras_serializable(package="gcap_tf")
class Preprocess(keras.layers.Layer):
  """The pixel normalisation of an application's own module."""

  def __init__(self, application: str, **kwargs):
    super().__init__(**kwargs)
    self.application = application

  def call(self, canvas):
    return _module(self.application).preprocess_input(canvas)

  def get_config(self):
    return {**super().get_config(), "application": self.application}


@keras.saving.register_keras_serializable(package="gcap_tf")
class KerasApplication(base.Backbone):
  """Maps of stride 8, 16 and 32 of a model of `keras.applications`.

  Args:
    application: its name, such as "ResNet101".
    weights: "imagenet" (Keras fetches them), "none", or a `.weights.h5` file of the model
      without its classifier.
  """

  def __init__(self, application: str, weights: str = "none", **kwargs):
    _module(application)
    layers = _stride_layers(application)
    model = _build(application, weights, None)
    outputs = {stride: model.layers[index].output for stride, index in layers.items()}
    tapped = keras.Model(model.input, {stride: outputs[stride] for stride in base.STRIDES})
    canvas = keras.Input((None, None, 3), name="canvas")
    super().__init__(canvas, tapped(Preprocess(application, name="normalise")(canvas)), **kwargs)
    self.application = application
    self._inside = (model.input, outputs)

  def parts(self):
    start, outputs = self._inside
    if _CUT not in outputs:
      raise errors.UserError(f"keras:{self.application} has no map of stride {_CUT}{_FROZEN}")
    middle = outputs[_CUT]
    outputs = {stride: outputs[stride] for stride in base.STRIDES}
    canvas = keras.Input((None, None, 3), name="canvas")
    normalised = Preprocess(self.application, name="normalise")(canvas)
    lower = base.Backbone(canvas, {_CUT: keras.Model(start, middle)(normalised)}, name=self.name)
    try:
      return lower, keras.Model(middle, outputs, name=f"{self.name}_upper")
    except ValueError:
      raise errors.UserError(
        f"keras:{self.application} cannot be cut at stride {_CUT}{_FROZEN}"
      ) from None

  def get_config(self):
    return {"application": self.application, "name": self.name}

  @classmethod
  def from_config(cls, config, custom_objects=None):
    del custom_objects
    return cls(**config)


def names() -> list[str]:
  """The models that Keras has."""
  return sorted(
    name
    for name, entry in vars(keras.applications).items()
    if inspect.isfunction(entry) and not name.startswith("_")
  )


def _module(application: str) -> types.ModuleType:
  for module in vars(keras.applications).values():
    usable = inspect.ismodule(module) and hasattr(module, "preprocess_input")
    if usable and inspect.isfunction(vars(module).get(application)):
      return module
  near = difflib.get_close_matches(application, names(), n=1, cutoff=0.4)
  hint = f' (did you mean "keras:{near[0]}"?)' if near else ""
  raise errors.UserError(f'keras.applications has no model "{application}"{hint}')


def _build(application: str, weights: str, size: int | None) -> keras.Model:
  make = getattr(keras.applications, application)
  kept = "imagenet" if weights == "imagenet" else None
  try:
    model = make(include_top=False, weights=kept, input_shape=(size, size, 3))
    if weights not in ("imagenet", "none"):
      model.load_weights(weights)
  except (OSError, ValueError, KeyError) as error:
    reason = " ".join(str(error).split())
    raise errors.UserError(
      f"backbone keras:{application}, weights {weights}: {reason}; give a file "
      "(--backbone_weights=FILE.weights.h5), or none"
    ) from None
  except Exception as error:  # Keras raises a bare Exception if a download fails.
    raise errors.UserError(
      f"backbone keras:{application}: Keras could not fetch its weights ({error}); give a file "
      "(--backbone_weights=FILE.weights.h5), or none"
    ) from None
  return model


def _stride_layers(application: str) -> dict[int, int]:
  """{stride: index of the last layer with it}, for the cut too if there is such a layer."""
  found = {}
  for index, layer in enumerate(_build(application, "none", _PROBE).layers):
    shape = getattr(layer.output, "shape", ())
    if len(shape) == 4 and shape[1] and _PROBE % shape[1] == 0:
      found[_PROBE // shape[1]] = index
  missing = [stride for stride in base.STRIDES if stride not in found]
  if missing:
    raise errors.UserError(
      f"keras:{application} has no map of stride {missing[0]}; choose a model with strides "
      f"{', '.join(map(str, base.STRIDES))}, such as keras:ResNet50"
    )
  return {stride: found[stride] for stride in (_CUT, *base.STRIDES) if stride in found}
