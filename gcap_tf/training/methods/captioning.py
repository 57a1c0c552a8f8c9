"""Training a captioner on captions: any captioner, any regularisers of its attention.

    L = λ1 L_words + Σ_r weight_r L_r

L_words is the cross entropy of the caption, word by word, from every branch; the L_r are the
regularisers of `training/regularizers`. A loss of weight 0 is not computed.
"""

import dataclasses
from typing import Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.captioners import base
from gcap_tf.data.prepared import feature_layout, pipeline, prepared_data, region_noise
from gcap_tf.evaluation import caption_validation
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import (
  captioner_model,
  captioner_trainer,
  first_stage,
  label_teacher,
  loop,
  loop_options,
  loss_options,
  optimizers,
  regularization,
  replicas,
  run_files,
  schedules,
  teacher_cache,
)
from gcap_tf.training.fine_tuning import start_run
from gcap_tf.training.regularizers import base as regularizer_base

CLIP_NORM = optimizers.OptimizerConfig(clip="norm", clip_at=0.1)
CLIP_VALUE = optimizers.OptimizerConfig(clip="value", clip_at=0.1)
_UPDOWN_SCHEDULE = schedules.ScheduleConfig("step_decay", 5e-4, factor=0.8, every=3)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaptionerTrainingConfig(captioner_model.CaptionerOptions, loop_options.LoopOptions):
  """Everything that changes the numbers of a captioner's run.

  Attributes:
    images: pictures of a step.
    captions_per_image: captions of each picture in a step.
    max_words: longer captions are cut.
    buckets: word counts that batches are padded to.
    first_stage_epochs: first epochs, trained with one branch and without a localiser.
    first_stage_steps: length of the first stage in steps, instead of epochs.
    first_stage_weights: weights of the first stage that the rest begins with.
    start: run folder of a captioner whose words, sizes and best weights this run begins with, such
      as one that learned language from other data; "" begins with random weights.
    teacher: run folder of the matcher that is distilled, "" for none.
    losses: weights of the losses.
    noise: how the regions of a batch are changed.
  """

  images: configs.PositiveInt = 29
  captions_per_image: configs.PositiveInt = 5
  max_words: configs.PositiveInt = 16
  buckets: tuple[configs.PositiveInt, ...] = ()
  first_stage_epochs: configs.Count = 0
  first_stage_steps: configs.Count = 0
  first_stage_weights: Literal["last", "best"] = "last"
  start: str = ""
  teacher: str = ""
  losses: loss_options.CaptioningLosses = dataclasses.field(
    default_factory=loss_options.CaptioningLosses
  )
  noise: region_noise.RegionNoise = dataclasses.field(default_factory=region_noise.RegionNoise)
  schedule: schedules.ScheduleConfig = _UPDOWN_SCHEDULE
  optimizer: optimizers.OptimizerConfig = CLIP_VALUE


class CaptioningTrainer(captioner_trainer.CaptionerTrainer):
  """Cross entropy and regularisers.

  Args:
    model: any captioner.
    config: weights of the losses.
    vocabulary: the model's; regularisers may need its region labels.
    validation: scores the captioner; None gives no figures.
    changer: changes the regions of every batch; None leaves them. Parts of an accumulated batch
      are weighted by what the unchanged batch counts.
    labels: teaches the attention of words that a detector knows; None leaves all to the teacher.
  """

  def __init__(
    self,
    model: base.Captioner,
    config: loss_options.CaptioningLosses,
    vocabulary: vocabularies.Vocabulary | None = None,
    validation: caption_validation.Validation | None = None,
    changer: region_noise.RegionChanger | None = None,
    labels: label_teacher.LabelTeacher | None = None,
  ):
    super().__init__(model, validation)
    self.config, self._changer, self._labels = config, changer, labels
    self.regularizers = regularization.active(config, model, vocabulary)
    self.extras = tuple(sorted({name for each in self.regularizers for name in each.extras}))
    self.sampling_chance = tf.Variable(0.0, trainable=False, name="sampling_chance")
    if config.scheduled_sampling.start >= 0 and not model.takes_scheduled_sampling:
      raise errors.UserError(
        f"scheduled sampling is not for {type(model).__name__}: leave scheduled_sampling.start at "
        f"-1, or train {regularizer_base.captioners_that(lambda cls: cls.takes_scheduled_sampling)}"
      )

  def begin_epoch(self, epoch: int) -> None:
    """Sets the chance of scheduled sampling in a 0-based epoch."""
    self.sampling_chance.assign(self.config.scheduled_sampling.chance(epoch))

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    if self._changer is not None:
      batch = self._changer(batch, seed)
    if self._labels is not None:
      taught = self._labels(batch, batch["tokens"], batch["teacher_attention"])
      batch = {**batch, "teacher_attention": taught}
    tokens, counted = batch["tokens"], self.counted(batch)

    memory = model.encode(batch, seed)
    chance = self.sampling_chance if config.scheduled_sampling.start >= 0 else None
    outputs = model.teacher_force(memory, tokens, seed, chance, self.extras)

    words = model.word_loss(outputs, tokens, batch["token_mask"], config.label_smoothing)
    if config.branch_reduction == "sum":
      words *= float(model.branches)
    means = {"cross_entropy": config.cross_entropy_weight * words}
    step = regularizer_base.Step(model, config, batch, memory, outputs, seed, counted)
    for regularizer in self.regularizers:
      means[regularizer.name] = regularizer.weight * regularizer.loss(step)

    return {name: replicas.share(mean, counted[name], name) for name, mean in means.items()}

  def counted(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What each loss is a mean over: words [B, T], or words and regions [B, T, R]."""
    counted = {"cross_entropy": batch["token_mask"]}
    for regularizer in self.regularizers:
      regularizer.check_batch(batch)
      counted[regularizer.name] = regularizer.counted(batch)
    return counted


def _open_start(
  config: CaptionerTrainingConfig, data: prepared_data.PreparedData, folder: files.PathLike
) -> run_folders.Run | None:
  """The captioner that a run begins with; None if it begins with random weights."""
  if not config.start:
    return None
  if first_stage.is_wanted(config):
    raise errors.UserError("a run has a start or a first stage, not both; leave one of them out")
  start = start_run.open_start(config.start, data, folder)
  if start.name != config.model:
    raise errors.UserError(f"--start={config.start} holds {start.name}, not {config.model}")
  return start


@run_files.alone
def train(
  data: prepared_data.PreparedData,
  config: CaptionerTrainingConfig,
  folder: files.PathLike,
  override: bool = False,
) -> dict[str, float]:
  """Trains a captioner, or continues to; returns its last validation figures."""
  configs.check(config)
  split = data.split("train")
  start = _open_start(config, data, folder)
  if start:
    vocabulary, model_config = start.vocabulary, start.model.config
  else:
    vocabulary = captioner_model.build_vocabulary(data, config)
    model_config = captioner_model.model_config(data, vocabulary, config)

  def new_model() -> base.Captioner:
    keras.utils.set_random_seed(config.seed)
    fresh = run_folders.make_model("captioner", config.model, model_config)
    if start:
      fresh.set_weights(start.model.get_weights())
    return fresh

  model = new_model()
  begun = {"start": str(start.folder)} if start else {}
  record = run_files.check(
    folder, "captioner", config.model, model, vocabulary, config, data, override,
    object_classes=list(data.object_classes), **begun,
  )  # fmt: skip
  if first_stage.is_wanted(config):
    train(data, first_stage.stage(config), first_stage.folder_of(folder), override=override)
    model = new_model()
  val = data.split("val") if "val" in data.splits else None
  validation = caption_validation.Validation(model, vocabulary, val)
  changer = feature_layout.changer(data, vocabulary, config.noise)
  power = config.losses.distill_labels if config.teacher else 0.0
  labels = label_teacher.create(data, vocabulary, power)
  trainer = CaptioningTrainer(model, config.losses, vocabulary, validation, changer, labels)
  teacher, scored = None, {}
  if config.teacher:
    matcher = run_folders.load(config.teacher, "matcher")
    teacher = teacher_cache.open_or_compute(matcher, split)
    scored = {"teacher_tags": matcher.model.noun_tags} if matcher.model.noun_tags else {}

  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)),
    captions_per_image=config.captions_per_image,
    max_words=min(config.max_words, split.max_words),
    buckets=config.buckets,
    seed=config.seed,
    **scored,
  )
  loop_config = loop.from_options(config, pipeline.steps_per_epoch(split, batch_config))
  if first_stage.is_wanted(config):
    loop_config = first_stage.begin(folder, model, config, loop_config)

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, vocabulary, batch_config, start_step, worker, teacher)

  with pipeline.clear_errors():
    return loop.train(trainer, batches, loop_config, folder, f"training {config.model}", record)
