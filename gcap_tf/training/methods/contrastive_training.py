"""From a trained captioner to one that was fine-tuned by contrastive learning."""

import dataclasses
import pathlib

import tensorflow as tf

from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.training import (
  caption_table,
  computing,
  fine_tuning,
  loop,
  negatives,
  optimizers,
  schedules,
)
from gcap_tf.training.methods import contrastive

_SCHEDULE = schedules.ScheduleConfig("constant", 1e-6)
_OPTIMIZER = optimizers.OptimizerConfig(beta_1=0.8, clip="value", clip_at=0.1)


@dataclasses.dataclass(frozen=True)
class ContrastiveTrainingConfig:
  """Everything that changes the numbers of a contrastive run.

  Attributes:
    start: run folder of the captioner to begin with.
    reference: run folder of the captioner to learn from; "" takes the start.
    images: pictures of a step.
    captions_per_image: right captions of each, and wrong ones from each of K other pictures.
    max_words: captions are cut to it; 0 takes what the start was trained with.
    epochs, max_steps, evaluate_every, early_stop, seed: as for any captioner.
    contrast: what is contrasted.
    schedule, optimizer: how it is learned. Departure: the paper's rate is 1e-6, the default
      of its program 4e-4.
    compute: on what.
  """

  start: str = ""
  reference: str = ""
  images: int = 20
  captions_per_image: int = 5
  max_words: int = 0
  epochs: int = 20
  max_steps: int = 0
  evaluate_every: int = 0
  early_stop: int = 0
  seed: int = 1
  contrast: contrastive.ContrastiveConfig = dataclasses.field(
    default_factory=contrastive.ContrastiveConfig
  )
  schedule: schedules.ScheduleConfig = _SCHEDULE
  optimizer: optimizers.OptimizerConfig = _OPTIMIZER
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


def train(
  data: prepared_data.PreparedData, config: ContrastiveTrainingConfig, folder: files.PathLike
) -> dict[str, float]:
  """Fine-tunes (or goes on fine-tuning); returns the last validation figures."""
  start = fine_tuning.open_start(config.start, data, folder)
  split, folder = data.split("train"), pathlib.Path(folder)
  reference = open_reference(config.reference or config.start, start, split)
  validate = fine_tuning.validation(start, data)
  trainer = contrastive.ContrastiveTrainer(
    start.model, reference.model, config.contrast, folder, validate
  )
  config = dataclasses.replace(config, max_words=fine_tuning.max_words(start, config.max_words))
  fine_tuning.write_config(folder, start, config, data, "contrastive")
  words = min(config.max_words, split.max_words)
  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)),
    captions_per_image=config.captions_per_image,
    max_words=words,
    seed=config.seed,
  )
  wrong = None
  if config.contrast.terms != "positive":
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
  loop_config = loop.of_run(config, pipeline.steps_per_epoch(split, batch_config), config.max_steps)

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    dataset = pipeline.training_batches(split, start.vocabulary, batch_config, start_step, worker)
    return dataset if wrong is None else with_negatives(dataset, wrong, start_step, worker)

  with pipeline.clear_errors():
    fine_tuning.record_start(folder, validate)
    return loop.train(trainer, batches, loop_config, folder, label=f"contrasting {start.name}")


def open_reference(
  path: str, start: run_folders.Run, split: prepared_data.Split
) -> run_folders.Run:
  """The captioner to learn from; a `UserError` where it does not read what the target reads."""
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
