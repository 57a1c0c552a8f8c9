"""A Keras model that is built from a frozen dataclass of options: every captioner and matcher.

Such a model has all its weights after construction. `model(batch)`, `summary()`, `get_config()`,
`save("m.keras")` and `keras.models.load_model("m.keras")` work at once. (A program that loads
models calls `gcap_tf.register_keras()` first.)

`compile` and `fit` work on our batches, for a quick experiment:

    model.compile(keras.optimizers.Adam(2e-4))
    model.fit(batches)

The loop in `training/` is the real way: it clips gradients, resumes exactly, runs on several
replicas, and has the other losses.
"""

import abc
from typing import Any, ClassVar, Self

import keras
import tensorflow as tf

from gcap_tf import config as configs

Batch = dict[str, tf.Tensor]


class ConfiguredModel(keras.Model, abc.ABC):
  """Saving, loading and `fit` for models that are built as `cls(config)`.

  A subclass names the class of its options in `Config`, creates every weight in `__init__`,
  and gives `fit` its loss.
  """

  Config: ClassVar[type]

  def __init__(self, config: Any, **kwargs: Any):
    super().__init__(**kwargs)
    self.config = config
    self.built = True  # Layers create their weights when they are constructed.
    self.supports_jit = False  # Captions have no fixed length, which XLA needs.

  @abc.abstractmethod
  def fit_loss(self, batch: Batch, training: bool) -> tf.Tensor:
    """The scalar that `fit` minimises and `evaluate` reports."""

  def train_step(self, batch: Batch) -> dict[str, tf.Tensor]:
    """One step of `fit`; weights that the loss does not reach stay as they are."""
    with tf.GradientTape() as tape:
      loss = self.fit_loss(batch, training=True)
    gradients = tape.gradient(loss, self.trainable_variables)
    pairs = zip(gradients, self.trainable_variables, strict=True)
    self.optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])
    return self._report(loss)

  def test_step(self, batch: Batch) -> dict[str, tf.Tensor]:
    """One step of `evaluate`."""
    return self._report(self.fit_loss(batch, training=False))

  def get_config(self) -> dict[str, Any]:
    return {"name": self.name, "config": configs.to_dict(self.config)}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> Self:
    options = configs.from_dict(cls.Config, config["config"], cls.__name__)
    return cls(options, name=config["name"])

  def step_seed(self) -> tf.Tensor:
    """Seed of this step's dropout: (0, steps of the compiled optimizer so far), int32 [2]."""
    optimizer = getattr(self, "optimizer", None)  # Keras sets it in `compile`.
    steps = 0 if optimizer is None else tf.cast(optimizer.iterations, tf.int32)
    return tf.stack([0, steps])

  def _report(self, loss: tf.Tensor) -> dict[str, tf.Tensor]:
    """The mean loss of this pass over the data, which Keras prints."""
    for metric in self.metrics:
      metric.update_state(loss)
    return self.get_metrics_result()
