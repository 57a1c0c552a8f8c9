"""From prepared data to a trained captioner in a run folder."""

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.captioners import base
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation import caption_validation, captioner_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import (
  computing,
  first_stage,
  loop,
  optimizers,
  pictures,
  schedules,
  teacher_cache,
)
from gcap_tf.training.methods import captioning

_UPDOWN_SCHEDULE = schedules.ScheduleConfig("step_decay", 5e-4, factor=0.8, every=3)
_UPDOWN_OPTIMIZER = optimizers.OptimizerConfig(clip="value", clip_at=0.1)


@dataclasses.dataclass(frozen=True)
class CaptionerTrainingConfig:
  """Everything that changes the numbers of a captioner's run.

  Attributes:
    model: registered name.
    options: of the model, beside the sizes that follow from data and vocabulary.
    region_labels: whether the captioner reads the regions' labels; "auto" reads them where
      regions carry no features.
    region_classes: "objects" gives GVD's classifier of regions one class for each annotated
      object class of the data, "option" as many as the model's option says.
    min_count: words seen less often are UNK.
    images: pictures of a step.
    captions_per_image: captions of each picture in a step.
    max_words: longer captions are cut.
    buckets: word counts that batches are padded to.
    epochs: passes over every picture.
    warm_up_epochs: the first of them, trained with one branch and without the cycle.
    warm_up_steps: the same counted in steps, instead.
    warm_up_weights: which weights the rest begins with, the last or the best.
    max_steps: ends the run sooner than its epochs would; 0 does not.
    evaluate_every: steps between validations; 0 validates at the end of every epoch.
    early_stop: validations without a better CIDEr before stopping; 0 never.
    seed: of initial weights, order and dropout.
    teacher: run folder of the matcher that is distilled, "" for none.
    losses: what is learned.
    schedule, optimizer: how.
    compute: on what.
  """

  model: str = "updown"
  options: dict[str, Any] = dataclasses.field(default_factory=dict)
  region_labels: Literal["auto", "yes", "no"] = "auto"
  region_classes: Literal["option", "objects"] = "option"
  min_count: int = 6
  images: int = 29
  captions_per_image: int = 5
  max_words: int = 16
  buckets: tuple[int, ...] = ()
  epochs: int = 30
  warm_up_epochs: int = 0
  warm_up_steps: int = 0
  warm_up_weights: Literal["last", "best"] = "last"
  max_steps: int = 0
  evaluate_every: int = 0
  early_stop: int = 0
  seed: int = 1
  teacher: str = ""
  losses: captioning.CaptioningConfig = dataclasses.field(
    default_factory=captioning.CaptioningConfig
  )
  schedule: schedules.ScheduleConfig = _UPDOWN_SCHEDULE
  optimizer: optimizers.OptimizerConfig = _UPDOWN_OPTIMIZER
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


def for_model(model: str) -> CaptionerTrainingConfig:
  """The published settings of a model's family; see the module of the model."""
  config = CaptionerTrainingConfig(model=model)
  if model in ("gvd", "distributed", "cyclical"):
    config = dataclasses.replace(
      config,
      max_words=20,
      min_count=4,
      optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=0.1),
    )
  if model == "cyclical":
    losses = captioning.CaptioningConfig(cross_entropy_weight=0.5, reconstruction_weight=0.5)
    schedule = schedules.ScheduleConfig("constant", 1e-4)
    config = dataclasses.replace(config, losses=losses, schedule=schedule)
  if model in ("adaptive", "neuraltalk2"):
    config = dataclasses.replace(
      config,
      images=20,
      max_words=18 if model == "adaptive" else 16,
      schedule=schedules.ScheduleConfig("constant", 4e-4),
      optimizer=optimizers.OptimizerConfig(beta_1=0.8, clip="value", clip_at=0.1),
    )
  return config


class _ValidatedTrainer(captioning.CaptioningTrainer):
  best_metric = "cider"

  def __init__(self, model, config, vocabulary, validation):
    super().__init__(model, config, vocabulary)
    self._vocabulary, self._validation = vocabulary, validation
    self._references = caption_validation.references_of(validation) if validation else {}
    self._answers: list[captioner_evaluation.Answer] = []

  def evaluate(self) -> dict[str, float]:
    if self._validation is None:
      return {}
    self._answers = captioner_evaluation.caption_split(
      self.model,
      self._vocabulary,
      self._validation,
      captioner_evaluation.usual_decoding(self.model),
    )
    return {"cider": caption_validation.cider_of(self._answers, self._references)}

  def pictures(self) -> dict[str, Any]:
    return pictures.of_answers(self._answers, self._validation)

  def texts(self) -> dict[str, str]:
    return {"captions": pictures.samples(self._answers, self._validation)}


def train(
  data: prepared_data.PreparedData, config: CaptionerTrainingConfig, folder: files.PathLike
) -> dict[str, float]:
  """Trains (or goes on training) a captioner; returns its last validation figures."""
  split = data.split("train")
  if first_stage.is_asked(config):
    train(data, first_stage.stage(config), first_stage.folder_of(folder))
  vocabulary = build_vocabulary(data, config)
  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)),
    captions_per_image=config.captions_per_image,
    max_words=min(config.max_words, split.max_words),
    buckets=config.buckets,
    seed=config.seed,
  )
  steps_per_epoch = pipeline.steps_per_epoch(split, batch_config)
  keras.utils.set_random_seed(config.seed)
  model = run_folders.make_model("captioner", config.model, model_config(data, vocabulary, config))
  run_folders.write_config(
    folder,
    "captioner",
    config.model,
    model.config,
    vocabulary,
    {
      "training": configs.to_dict(config),
      "data": str(data.folder),
      "dataset": data.name,
      "object_classes": list(data.object_classes),
      "command": " ".join(sys.argv),
    },
  )
  pictures.write_options(folder, config)
  validation = data.split("val") if "val" in data.splits else None
  trainer = _ValidatedTrainer(model, config.losses, vocabulary, validation)
  teacher = None
  if config.teacher:
    teacher = teacher_cache.open_or_compute(run_folders.load(config.teacher, "matcher"), split)
  loop_config = loop.of_run(config, steps_per_epoch, config.max_steps)
  if first_stage.is_asked(config):
    first_stage.begin(folder, model, config.warm_up_weights)
    asked = config.warm_up_steps or config.warm_up_epochs * steps_per_epoch
    done = min(asked, loop_config.steps)
    loop_config = dataclasses.replace(loop_config, start_step=done)

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, vocabulary, batch_config, start_step, worker, teacher)

  with pipeline.clear_errors():
    return loop.train(trainer, batches, loop_config, folder, label=f"training {config.model}")


def uses_labels(data: prepared_data.PreparedData, config: CaptionerTrainingConfig) -> bool:
  """Whether the captioner reads region labels; a `UserError` where that leaves it nothing."""
  wanted = {"yes": True, "no": False, "auto": not data.feature_size}[config.region_labels]
  if wanted and not data.has_labels:
    raise errors.UserError(f"{data.folder} has regions without labels; set region_labels=no")
  if not wanted and not data.feature_size:
    raise errors.UserError(f"{data.folder} has regions without features; set region_labels=yes")
  return wanted


def build_vocabulary(
  data: prepared_data.PreparedData, config: CaptionerTrainingConfig
) -> vocabularies.Vocabulary:
  """The run's words, and the labels that it reads of regions or classifies them by."""
  vocabulary = data.build_vocabulary("captioner", config.min_count)
  labels = vocabulary.labels if uses_labels(data, config) else ()
  if config.region_classes == "objects":
    if not data.object_classes:
      raise errors.UserError(
        f"{data.folder} has no object classes; set region_classes=option, or prepare the data "
        "with --object_classes=FILE"
      )
    labels += tuple(name for name in data.object_classes if name not in labels)
  return dataclasses.replace(vocabulary, labels=labels)


def model_config(
  data: prepared_data.PreparedData,
  vocabulary: vocabularies.Vocabulary,
  config: CaptionerTrainingConfig,
) -> Any:
  """The model's own options, sizes filled in from data and vocabulary."""
  sizes = {
    "vocabulary_size": vocabulary.size,
    "feature_size": data.feature_size,
    "global_size": data.global_size,
    "num_labels": len(vocabulary.labels) if uses_labels(data, config) else 0,
  }
  if config.region_classes == "objects":
    sizes["num_classes"] = len(vocabulary.labels)
  if config.options.get("naming"):
    sizes["label_words"] = label_words(vocabulary)
  check_sizes(config.options, data)
  cls = base.CAPTIONERS.get(config.model).Config
  return configs.from_dict(cls, {**config.options, **sizes}, f"captioner {config.model}")


def check_sizes(options: Mapping[str, Any], data: prepared_data.PreparedData) -> None:
  """A `UserError` if a captioner is to read a grid or global feature that the data lacks."""
  for name, what in (("grid_size", "a grid cell"), ("global_size", "the whole picture")):
    expected, found = options.get(name, 0), getattr(data, name)
    if expected and expected != found:
      raise errors.UserError(
        f"options.{name}={expected}: {data.folder} has {found or 'no'} features of {what}; "
        f"prepare it with regions of pictures, or set options.{name}={found}"
      )


def label_words(vocabulary: vocabularies.Vocabulary) -> list[int]:
  """The word of each region label, the unknown label first; 0 where the label is no word."""
  known = {word: index for word, index in vocabulary.ids.items() if index != vocabulary.unknown_id}
  return [0, *(known.get(label, 0) for label in vocabulary.labels)]
