"""The contract of an attention regulariser: a loss that is added to the words' cross entropy.

A regulariser is one file in this folder with one register line:

    @base.register("toy")
    class Toy(base.Regularizer):
      def counted(self, batch): return batch["noun_mask"]
      def loss(self, step): return ...      # a mean over what `counted` marks

`--set=losses.regularizers.toy=0.1` turns it on. A regulariser with a weight of its own in
`CaptioningLosses` names it in `weight_option`.
"""

import abc
import functools
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, registry
from gcap_tf.captioners import base as captioner_base
from gcap_tf.losses import boxes
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import loss_options

Batch = dict[str, tf.Tensor]
R = TypeVar("R", bound=type["Regularizer"])

_REMEDIES = {
  "teacher_attention": "name a teacher",
  "teacher_words": "name a teacher",
  "target_regions": "prepare the data from a dataset with annotated boxes",
}

REGULARIZERS: registry.Registry[type["Regularizer"]] = registry.Registry("regulariser")


def register(name: str) -> Callable[[R], R]:
  """Registers a class under the name of its loss."""

  def add(cls: R) -> R:
    cls.name = name
    return REGULARIZERS.register(name)(cls)

  return add


class Step:
  """One training step as a regulariser sees it; shared computations are done once.

  Attributes:
    model: the captioner.
    config: options of the losses.
    batch: the batch.
    memory: the encoded pictures.
    outputs: `attention` [B, T, K, R] and the rest of `teacher_force`.
    seed: int32 [2] of this step.
    counted: what `counted` of every regulariser returned, by name.
  """

  def __init__(
    self,
    model: captioner_base.Captioner,
    config: loss_options.CaptioningLosses,
    batch: Batch,
    memory: captioner_base.Memory,
    outputs: dict[str, tf.Tensor],
    seed: tf.Tensor,
    counted: dict[str, tf.Tensor],
  ):
    self.model, self.config, self.batch = model, config, batch
    self.memory, self.outputs, self.seed, self.counted = memory, outputs, seed, counted

  @functools.cached_property
  def attention(self) -> tf.Tensor:
    """Attention of the first branch, the one that sees every region: [B, T, R]."""
    return self.outputs["attention"][:, :, 0]

  @functools.cached_property
  def scores(self) -> tf.Tensor:
    """Attention of the first branch before the softmax: [B, T, R]."""
    return self.outputs["scores"][:, :, 0]

  @functools.cached_property
  def region_mask(self) -> tf.Tensor:
    """Real regions of each caption's picture: bool [B, R]."""
    return self.per_caption(self.batch["region_mask"])

  @functools.cached_property
  def supervised_regions(self) -> tf.Tensor:
    """Regions that the boxes of a word say something about: real ones, in a video those of the
    word's annotated frames: bool [B, R], or [B, T, R].
    """
    if self.model.num_frames == 1:
      return self.region_mask
    return boxes.annotated_frames(self.batch["target_regions"], self.region_mask)

  @functools.cached_property
  def class_logits(self) -> tf.Tensor:
    """Classes of the regions of each caption's picture: [B, R, classes]."""
    return self.per_caption(self.memory["class_logits"])

  @functools.cached_property
  def reconstructed(self) -> dict[str, tf.Tensor]:
    """The second pass: the caption from the regions that its predicted words point at."""
    nouns_only = self.config.localized_words == "nouns"
    return self.model.reconstruct(
      self.memory,
      self.batch["tokens"],
      tf.argmax(self.outputs["logits"], -1, output_type=tf.int32),
      self.seed,
      keep=content_words(self.batch) if nouns_only else None,
      **{name: self.outputs[name] for name in self.model.reconstruction_needs},
    )

  def per_caption(self, of_pictures: tf.Tensor) -> tf.Tensor:
    """[I, ...] -> [B, ...], picture-major."""
    captions, pictures = tf.shape(self.batch["tokens"])[0], tf.shape(of_pictures)[0]
    return tf.repeat(of_pictures, captions // pictures, axis=0)


class Regularizer(abc.ABC):
  """One term of the loss.

  Args:
    config: options of the losses.
    model: the captioner; a `UserError` if it lacks what the regulariser needs.
    vocabulary: the model's words and region labels; None if the run has none.

  Attributes:
    name: of the loss in logs.
    weight_option: field of `CaptioningLosses` with the weight; "" reads
      `losses.regularizers.NAME`.
    batch_keys: tensors that a batch must have.
    extras: what `teacher_force` must return besides logits and attention.
    needs_localizer: whether the captioner must have a localiser.
    Options: dataclass of further options, read from `losses.regularizer_options.NAME`.
  """

  name: ClassVar[str] = ""
  weight_option: ClassVar[str] = ""
  batch_keys: ClassVar[tuple[str, ...]] = ()
  extras: tuple[str, ...] = ()
  needs_localizer: ClassVar[bool] = False
  Options: ClassVar[type | None] = None

  def __init__(
    self,
    config: loss_options.CaptioningLosses,
    model: captioner_base.Captioner,
    vocabulary: vocabularies.Vocabulary | None = None,
  ):
    self.config, self.weight = config, self.weight_in(config)
    self.options: Any = self._read_options(config)
    if self.needs_localizer and not model.has_localizer:
      raise errors.UserError(
        f"{self.option} needs a captioner with a localiser: set its option localizer to linear, "
        "mlp or hidden, or train the model cyclical"
      )
    self.check_model(model, vocabulary)
    if not set(self.extras) <= set(model.optional_outputs):
      able = captioners_that(lambda cls: set(self.extras) <= set(cls.optional_outputs))
      raise errors.UserError(f"{self.option} is not for {type(model).__name__}; train {able}")

  @classmethod
  def weight_in(cls, config: loss_options.CaptioningLosses) -> float:
    """The weight of this regulariser; 0 turns it off."""
    if cls.weight_option:
      return getattr(config, cls.weight_option)
    return config.regularizers.get(cls.name, 0.0)

  @property
  def option(self) -> str:
    """The option that holds the weight, for messages."""
    return self.weight_option or f"losses.regularizers.{self.name}"

  def _read_options(self, config: loss_options.CaptioningLosses) -> Any:
    given = config.regularizer_options.get(self.name, {})
    where = f"losses.regularizer_options.{self.name}"
    if self.Options is not None:
      return configs.from_dict(self.Options, given, where)
    if given:
      raise errors.UserError(f"{where}: {self.name} has no options")
    return None

  def check_model(
    self, model: captioner_base.Captioner, vocabulary: vocabularies.Vocabulary | None
  ) -> None:
    """Raises a `UserError` if the model cannot be regularised this way."""
    del model, vocabulary

  def check_batch(self, batch: Batch) -> None:
    """Raises a `UserError` if the batch lacks a tensor."""
    for key in self.batch_keys:
      if key not in batch:
        remedy = _REMEDIES.get(key, f"prepare data with {key}")
        raise errors.UserError(f"{self.option} is above 0 but the batch has no {key}: {remedy}")

  @abc.abstractmethod
  def counted(self, batch: Batch) -> tf.Tensor:
    """What the loss is a mean over, known from the batch alone: bool, any shape.

    Replicas and parts of a batch weight their means by how much is true in it.
    """

  @abc.abstractmethod
  def loss(self, step: Step) -> tf.Tensor:
    """The mean over `step.counted[self.name]`, without its weight: scalar."""


def captioners_that(suit: Callable[[type[captioner_base.Captioner]], bool]) -> str:
  """Names of the captioners of which `suit` is true, for messages: "gvd, updown"."""
  known = captioner_base.CAPTIONERS
  return ", ".join(name for name in known.names() if suit(known.get(name)))


def content_words(batch: Batch) -> tf.Tensor:
  """Nouns, and verbs if the data marks them: bool [B, T]."""
  nouns = batch["noun_mask"]
  return nouns | batch["verb_mask"] if "verb_mask" in batch else nouns
