"""Which regularisers a run uses: every one in `regularizers/` whose weight is above 0."""

import dataclasses

from gcap_tf import errors, registry
from gcap_tf.captioners import base as captioner_base
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import loss_options
from gcap_tf.training.regularizers import base

registry.import_modules("gcap_tf.training.regularizers")


def active(
  config: loss_options.CaptioningLosses,
  model: captioner_base.Captioner,
  vocabulary: vocabularies.Vocabulary | None = None,
) -> tuple[base.Regularizer, ...]:
  """The regularisers that are on, in the order of their options, then of their names.

  The order is fixed because sums of losses depend on it to the last bit.
  """
  for name in {**config.regularizers, **config.regularizer_options}:
    option = base.REGULARIZERS.get(name).weight_option
    if option and name in config.regularizers:
      raise errors.UserError(f"losses.regularizers.{name}: set losses.{option} instead")
  options = [field.name for field in dataclasses.fields(config)]

  def place(cls: type[base.Regularizer]) -> tuple[int, str]:
    return (options.index(cls.weight_option or "regularizers"), cls.name)

  chosen = [cls for cls in _classes() if cls.weight_in(config) > 0]
  return tuple(cls(config, model, vocabulary) for cls in sorted(chosen, key=place))


def without_localizer(config: loss_options.CaptioningLosses) -> loss_options.CaptioningLosses:
  """The same losses without those that need a localiser."""
  off = [cls for cls in _classes() if cls.needs_localizer]
  names = {cls.name for cls in off}
  return dataclasses.replace(
    config,
    regularizers={name: w for name, w in config.regularizers.items() if name not in names},
    **{cls.weight_option: 0.0 for cls in off if cls.weight_option},
  )


def _classes() -> list[type[base.Regularizer]]:
  return [base.REGULARIZERS.get(name) for name in base.REGULARIZERS.names()]
