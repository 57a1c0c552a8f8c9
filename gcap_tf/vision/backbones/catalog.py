"""Backbones by name: `lite0`, `lite2`, and `keras:NAME` for any of `keras.applications`."""

from gcap_tf.vision.backbones import base, keras_applications, lite_weights  # noqa: F401

BACKBONES = base.BACKBONES
_KERAS = "keras:"


def create(name: str, weights: str = "imagenet") -> base.Backbone:
  """Builds a backbone.

  Args:
    name: of the registry, or `keras:NAME`.
    weights: "imagenet", "none", or a file that `load_weights` reads.
  """
  if name.startswith(_KERAS):
    return keras_applications.KerasApplication(name.removeprefix(_KERAS), weights)
  return BACKBONES.get(name)(weights)
