"""Contrastive learning of a captioner against a frozen reference.

The target sees dropout, the reference does not, so G begins below 0 even where both have the
same weights. Gradients flow into the target alone.
"""

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Literal

import tensorflow as tf

from gcap_tf import errors, files
from gcap_tf.captioners import base, likelihood
from gcap_tf.layers import dropout
from gcap_tf.losses import contrastive as contrastive_losses
from gcap_tf.runs import checkpoints
from gcap_tf.training import replicas, trainer

_PASS_SALT = 2000
_OFFICIAL_WORDS = 16


@dataclasses.dataclass(frozen=True)
class ContrastiveConfig:
  """What is contrasted.

  Attributes:
    nu: ν.
    negatives: K, wrong pictures' captions for every right one.
    terms: "both", "positive" for CL(P), "negative" for CL(N).
    form: "softplus", or "clipped" for the released code's numbers, see losses/contrastive.py.
    passes: "joint" runs right and wrong captions under one dropout mask of the picture;
      "separate" draws a new one for the right captions and each of the K, as released.
    counted: "clean" counts every word and the end, for both models. "official_cross" repeats
      the released Neuraltalk2 that learns from AdaptiveAttention: the target's end, and its
      words after the 16th, are not counted; the reference counts them all.
    replace_every: epochs after which the reference becomes a copy of the target; 0 never.
    replace_with: the target's weights that are copied.
  """

  nu: float = 1.0
  negatives: int = 5
  terms: contrastive_losses.Terms = "both"
  form: contrastive_losses.Form = "softplus"
  passes: Literal["joint", "separate"] = "joint"
  counted: Literal["clean", "official_cross"] = "clean"
  replace_every: int = 0
  replace_with: Literal["last", "best"] = "last"

  def __post_init__(self):
    if self.nu <= 0:
      raise errors.UserError(f"nu is {self.nu}; it must be above 0")
    if self.negatives < 1:
      raise errors.UserError(
        f"negatives is {self.negatives}; it must be at least 1 (terms=positive leaves them out)"
      )


class ContrastiveTrainer(trainer.Trainer):
  """Losses of contrastive learning.

  Batches hold `tokens` [I * n, T] and, unless only right pairs count, `negatives`
  [I, K * n, T]: captions of other pictures.

  Args:
    model: the target, any captioner.
    reference: another captioner with the same words; it is frozen.
    config: what to contrast.
    folder: of the run; replaced references are kept in it.
    validate: () -> validation figures, "cider" among them.
  """

  best_metric = "cider"

  def __init__(
    self,
    model: base.Captioner,
    reference: base.Captioner,
    config: ContrastiveConfig,
    folder: files.PathLike,
    validate: Callable[[], dict[str, float]] = dict,
  ):
    self.model, self.reference, self.config = model, reference, config
    self._folder, self._validate = pathlib.Path(folder), validate
    same = type(model) is type(reference) and model.config == reference.config
    if config.replace_every and not same:
      raise errors.UserError(
        "replace_every copies the target into the reference: both must be the same model with "
        "the same options"
      )

  def begin_epoch(self, epoch: int) -> None:
    """Replaces the reference where the epoch asks for it.

    The copy is a checkpoint of its own, so that a run which goes on in the middle of an epoch
    finds the reference that this epoch began with.
    """
    every = self.config.replace_every
    if not every or epoch < every:
      return
    made = epoch - epoch % every
    path = self._folder / "reference" / f"epoch-{made:05d}"
    if not path.exists():
      if epoch != made:
        raise errors.UserError(f"reference {path} is missing; begin the run anew")
      source = self.model
      if self.config.replace_with == "best":
        checkpoints.restore(checkpoints.best_path(self._folder), model=self.reference)
        source = self.reference
      checkpoints.save(path, model=source)
    checkpoints.restore(path, model=self.reference)

  def evaluate(self) -> dict[str, float]:
    return self._validate()

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    groups = self._groups(batch)
    ratios = self._ratios(batch, groups, seed)
    found = contrastive_losses.loss(
      ratios[0],
      tf.stack(ratios[1:]) if len(ratios) > 1 else ratios[0],
      self.config.nu,
      self.config.terms,
      self.config.form,
    )
    everyone = tf.ones(tf.shape(ratios[0]), tf.bool)
    return {name: replicas.share(loss, everyone) for name, loss in found.items()}

  def _groups(self, batch) -> list[tf.Tensor]:
    """Right captions [I, n, T], then K times wrong ones."""
    slots = tf.shape(batch["tokens"])[1]
    pictures = tf.shape(batch["region_mask"])[0]
    right = tf.reshape(batch["tokens"], [pictures, -1, slots])
    if self.config.terms == "positive":
      return [right]
    return [right, *tf.split(batch["negatives"], self.config.negatives, axis=1)]

  def _ratios(self, batch, groups: list[tf.Tensor], seed: tf.Tensor) -> list[tf.Tensor]:
    """G of each group, [I, n] each."""
    joint = self.config.passes == "joint"
    passes = [tf.concat(groups, 1)] if joint else groups
    memory = self.reference.encode(batch)
    ratios = []
    for number, captions in enumerate(passes):
      # [I, m, T] -> [I * m, T], picture-major
      tokens = likelihood.trim(tf.reshape(captions, [-1, tf.shape(captions)[2]]))
      noise = seed if joint else dropout.derive(seed, _PASS_SALT + number)
      known = likelihood.caption_log_probs(self.reference, memory, tokens)
      learned = likelihood.caption_log_probs(
        self.model, self.model.encode(batch, noise), tokens, noise, self._target_mask(tokens)
      )
      ratio = learned - tf.stop_gradient(known)
      ratios.append(tf.reshape(ratio, tf.shape(captions)[:2]))
    return tf.split(ratios[0], len(groups), axis=1) if joint else ratios

  def _target_mask(self, tokens: tf.Tensor) -> tf.Tensor | None:
    if self.config.counted == "clean":
      return None
    early = tf.range(tf.shape(tokens)[1]) < _OFFICIAL_WORDS
    return (tokens > 0) & early
