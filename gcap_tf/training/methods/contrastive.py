"""Contrastive learning of a captioner against a frozen reference (Dai & Lin, NeurIPS 2017).

The target sees dropout, the reference does not, so G begins below 0 even if both have the
same weights. Gradients flow into the target only.
"""

import dataclasses
import pathlib
from typing import Literal

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.captioners import base, likelihood
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation import caption_validation, captioner_evaluation
from gcap_tf.layers import dropout
from gcap_tf.losses import contrastive as contrastive_losses
from gcap_tf.runs import checkpoints, run_folders
from gcap_tf.training import (
  captioner_trainer,
  loop,
  loop_options,
  optimizers,
  replicas,
  run_files,
  schedules,
)
from gcap_tf.training.fine_tuning import caption_table, negatives, start_run

_SCHEDULE = schedules.ScheduleConfig("constant", 1e-6)
_OPTIMIZER = optimizers.OptimizerConfig(beta_1=0.8, clip="value", clip_at=0.1)
_PASS_SALT = 2000
_OFFICIAL_WORDS = 16
_RIGHT_ALONE = ("positive", "introspective")  # Terms without captions of other pictures.


@dataclasses.dataclass(frozen=True)
class Contrast:
  """How right and wrong captions are contrasted.

  Attributes:
    nu: ν.
    negatives: K, wrong pictures whose captions are used for every right one.
    terms: "both", "positive" for CL(P), "negative" for CL(N), "introspective" for IL, which
      compares with the next picture of the batch instead of a reference.
    form: "softplus", or "clipped" for the released code's numbers, see losses/contrastive.py.
    passes: "joint" runs right and wrong captions under one dropout mask of the picture;
      "separate" draws a new one for the right captions and each of the K, as released.
    counted: "clean" counts every word and the end, for both models. "official_cross" repeats
      the released Neuraltalk2 that learns from AdaptiveAttention: the target's end, and its
      words after the 16th, are not counted; the reference counts them all.
    replace_every: epochs after which the reference becomes a copy of the target; 0 never.
    replace_with: the target's weights that are copied.
  """

  nu: configs.Positive = 1.0
  negatives: configs.PositiveInt = 5
  terms: contrastive_losses.Terms = "both"
  form: contrastive_losses.Form = "softplus"
  passes: Literal["joint", "separate"] = "joint"
  counted: Literal["clean", "official_cross"] = "clean"
  replace_every: configs.Count = 0
  replace_with: Literal["last", "best"] = "last"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ContrastiveTrainingConfig(loop_options.LoopOptions):
  """Everything that changes the numbers of a contrastive run.

  Attributes:
    start: run folder of the captioner to begin with.
    reference: run folder of the captioner to learn from; "" takes the start.
    images: pictures of a step.
    captions_per_image: right captions of each, and wrong ones from each of K other pictures.
    max_words: captions are cut to it; 0 takes the limit that the start was trained with.
    contrast: how captions are contrasted.
    schedule: learning rate over time. Departure: the paper's rate is 1e-6, the default of its
      program 4e-4.
  """

  start: str = ""
  reference: str = ""
  images: configs.PositiveInt = 20
  captions_per_image: configs.PositiveInt = 5
  max_words: configs.Count = 0
  epochs: configs.PositiveInt = 20
  contrast: Contrast = dataclasses.field(default_factory=Contrast)
  schedule: schedules.ScheduleConfig = _SCHEDULE
  optimizer: optimizers.OptimizerConfig = _OPTIMIZER


class ContrastiveTrainer(captioner_trainer.CaptionerTrainer):
  """Losses of contrastive learning.

  Batches hold `tokens` [I * n, T] and, unless only right pairs count, `negatives`
  [I, K * n, T]: captions of other pictures.

  Args:
    model: the target, any captioner.
    reference: another captioner with the same words; it is frozen.
    config: how captions are contrasted.
    folder: of the run; replaced references are kept in it.
    validation: scores the captioner; None gives no figures.
  """

  def __init__(
    self,
    model: base.Captioner,
    reference: base.Captioner,
    config: Contrast,
    folder: files.PathLike,
    validation: caption_validation.Validation | None = None,
  ):
    super().__init__(model, validation)
    self.reference, self.config, self._folder = reference, config, pathlib.Path(folder)
    same = type(model) is type(reference) and model.config == reference.config
    if config.replace_every and not same:
      raise errors.UserError(
        "replace_every copies the target into the reference: both must be the same model with "
        "the same options"
      )

  def begin_epoch(self, epoch: int) -> None:
    """Replaces the reference every `replace_every` epochs.

    The copy is a checkpoint of its own, so that a run which continues in the middle of an
    epoch finds the reference that this epoch began with.
    """
    every = self.config.replace_every
    if not every or epoch < every:
      return
    made = epoch - epoch % every
    path = self._folder / "reference" / f"epoch-{made:05d}"
    if not path.exists():
      if epoch != made:
        raise errors.UserError(f"reference {path} is missing; begin the run again")
      source = self.model
      if self.config.replace_with == "best":
        checkpoints.restore(checkpoints.best_path(self._folder), model=self.reference)
        source = self.reference
      checkpoints.save(path, model=source)
    checkpoints.restore(path, model=self.reference)

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    groups = self._groups(batch)
    ratios = self._ratios(batch, groups, seed)
    means = contrastive_losses.loss(
      ratios[0],
      tf.stack(ratios[1:]) if len(ratios) > 1 else ratios[0],
      self.config.nu,
      self.config.terms,
      self.config.form,
    )
    captions = tf.ones(tf.shape(ratios[0]), tf.bool)
    return {name: replicas.share(loss, captions) for name, loss in means.items()}

  def _groups(self, batch) -> list[tf.Tensor]:
    """Right captions [I, n, T], then K groups of wrong ones."""
    slots = tf.shape(batch["tokens"])[1]
    pictures = tf.shape(batch["region_mask"])[0]
    right = tf.reshape(batch["tokens"], [pictures, -1, slots])
    if self.config.terms in _RIGHT_ALONE:
      return [right]
    return [right, *tf.split(batch["negatives"], self.config.negatives, axis=1)]

  def _ratios(self, batch, groups: list[tf.Tensor], seed: tf.Tensor) -> list[tf.Tensor]:
    """G of each group, [I, n] each."""
    if self.config.terms == "introspective":
      return [self._introspect(batch, groups[0], seed)]
    joint = self.config.passes == "joint"
    passes = [tf.concat(groups, 1)] if joint else groups
    memory = self.reference.encode(batch)
    ratios = []
    for number, captions in enumerate(passes):
      # [I, m, T] -> [I * m, T], picture-major
      tokens = likelihood.trim(tf.reshape(captions, [-1, tf.shape(captions)[2]]))
      noise = seed if joint else dropout.derive(seed, _PASS_SALT + number)
      of_reference = likelihood.caption_log_probs(self.reference, memory, tokens)
      of_target = likelihood.caption_log_probs(
        self.model, self.model.encode(batch, noise), tokens, noise, self._target_mask(tokens)
      )
      ratio = of_target - tf.stop_gradient(of_reference)
      ratios.append(tf.reshape(ratio, tf.shape(captions)[:2]))
    return tf.split(ratios[0], len(groups), axis=1) if joint else ratios

  def _introspect(self, batch, right: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """ln p of right captions with their own picture less that with the next one: [I, n]."""
    tokens = likelihood.trim(tf.reshape(right, [-1, tf.shape(right)[2]]))
    memory = self.model.encode(batch, seed)
    other = tf.nest.map_structure(lambda x: tf.roll(x, 1, axis=0), memory)
    mask = self._target_mask(tokens)
    own, wrong = (
      likelihood.caption_log_probs(self.model, seen, tokens, seed, mask) for seen in (memory, other)
    )
    return tf.reshape(own - wrong, tf.shape(right)[:2])

  def _target_mask(self, tokens: tf.Tensor) -> tf.Tensor | None:
    if self.config.counted == "clean":
      return None
    early = tf.range(tf.shape(tokens)[1]) < _OFFICIAL_WORDS
    return (tokens > 0) & early


@run_files.alone
def train(
  data: prepared_data.PreparedData,
  config: ContrastiveTrainingConfig,
  folder: files.PathLike,
  override: bool = False,
) -> dict[str, float]:
  """Fine-tunes a captioner, or continues to; returns the last validation figures."""
  configs.check(config)
  start = start_run.open_start(config.start, data, folder)
  split, folder = data.split("train"), pathlib.Path(folder)
  reference = open_reference(config.reference or config.start, start, split)
  validation = start_run.validation(start, data)
  trainer = ContrastiveTrainer(start.model, reference.model, config.contrast, folder, validation)
  config = dataclasses.replace(config, max_words=start_run.max_words(start, config.max_words))
  record = start_run.check(folder, start, config, data, "contrastive", override)

  words = min(config.max_words, split.max_words)
  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)),
    captions_per_image=config.captions_per_image,
    max_words=words,
    seed=config.seed,
  )
  wrong = None
  if config.contrast.terms not in _RIGHT_ALONE:
    table = caption_table.open_or_read(folder / "captions_train.npz", split, start.vocabulary)
    caption_table.check_known(table, start.vocabulary, f"the start {config.start}")
    wrong = negatives.Negatives(
      table,
      words + 1,
      batch_config.images,
      config.captions_per_image,
      config.contrast.negatives,
      config.seed,
    )
  loop_config = loop.from_options(config, pipeline.steps_per_epoch(split, batch_config))

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    dataset = pipeline.training_batches(split, start.vocabulary, batch_config, start_step, worker)
    return dataset if wrong is None else with_negatives(dataset, wrong, start_step, worker)

  with pipeline.clear_errors():
    start_run.record_start(folder, validation)
    return loop.train(trainer, batches, loop_config, folder, f"contrasting {start.name}", record)


def open_reference(
  path: str, start: run_folders.Run, split: prepared_data.Split
) -> run_folders.Run:
  """The captioner to learn from; a `UserError` if it does not read what the target reads."""
  run = run_folders.load(path, "captioner")
  if run.vocabulary.fingerprint != start.vocabulary.fingerprint:
    raise errors.UserError(
      f"reference {path} has another vocabulary ({run.vocabulary.fingerprint}) than the start "
      f"{start.folder} ({start.vocabulary.fingerprint}); train both with the same data and "
      "min_count"
    )
  captioner_evaluation.check_regions(run.model, split)
  if run.model.config.num_labels and run.vocabulary.labels != start.vocabulary.labels:
    raise errors.UserError(
      f"reference {path} reads region labels in another order than the start {start.folder}; "
      "train both with the same region_labels"
    )
  print(f"reference: {run.name} from {pathlib.Path(path).resolve()}")
  return run


def with_negatives(
  dataset: tf.data.Dataset,
  wrong: negatives.Negatives,
  start_step: int,
  worker: tuple[int, int] = (0, 1),
) -> tf.data.Dataset:
  """Adds `negatives` [I, K * n, T] to every batch, or to the worker's part of it."""

  def draw(step, images):
    return wrong.at(step, images, worker[0] * len(images))

  def add(step, batch):
    rows = tf.numpy_function(draw, [step, batch["image_id"]], tf.int32)
    slots = batch["tokens"].shape[1]
    return batch | {"negatives": tf.ensure_shape(rows, [batch["image_id"].shape[0], None, slots])}

  numbered = tf.data.Dataset.zip(tf.data.Dataset.counter(start_step), dataset)
  return numbered.map(add, deterministic=True)
