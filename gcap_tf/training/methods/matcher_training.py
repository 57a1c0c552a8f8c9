"""From prepared data to a trained matcher in a run folder."""

import dataclasses
import sys
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation import matcher_evaluation
from gcap_tf.matchers import base, blocks
from gcap_tf.metrics import retrieval
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import computing, loop, optimizers, pictures, schedules
from gcap_tf.training.methods import matching

_SCAN_SCHEDULE = schedules.ScheduleConfig("step_decay", 2e-4, factor=0.1, every=15)


@dataclasses.dataclass(frozen=True)
class MatcherTrainingConfig:
  """Everything that changes the numbers of a matcher's run.

  Attributes:
    model: registered name.
    options: of the model, beside the sizes that follow from data and vocabulary.
    min_count: words seen less often are unknown.
    batch_size: pairs of a step.
    max_words: longer captions are cut.
    buckets: word counts that batches are padded to.
    epochs: passes over every caption.
    max_steps: ends the run sooner than its epochs would; 0 does not.
    evaluate_every: steps between validations; 0 validates at the end of every epoch.
    early_stop: validations without a better rsum before stopping; 0 never.
    seed: of initial weights, order, dropout and sampled queries.
    losses: what is learned.
    schedule, optimizer: how.
    compute: on what.
  """

  model: str = "scan"
  options: dict[str, Any] = dataclasses.field(default_factory=dict)
  min_count: int = 4
  batch_size: int = 128
  max_words: int = 60
  buckets: tuple[int, ...] = (8, 12, 16, 24)
  epochs: int = 30
  max_steps: int = 0
  evaluate_every: int = 0
  early_stop: int = 0
  seed: int = 1
  losses: matching.MatchingConfig = dataclasses.field(default_factory=matching.MatchingConfig)
  schedule: schedules.ScheduleConfig = _SCAN_SCHEDULE
  optimizer: optimizers.OptimizerConfig = dataclasses.field(
    default_factory=optimizers.OptimizerConfig
  )
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


class _ValidatedTrainer(matching.MatchingTrainer):
  best_metric = "rsum"

  def __init__(self, model, config, vocabulary, validation):
    super().__init__(model, config)
    self._vocabulary, self._validation = vocabulary, validation
    self._scorer = blocks.Scorer(model)
    self._attention = pictures.MatcherAttention(model, vocabulary, validation)

  def evaluate(self) -> dict[str, float]:
    if self._validation is None:
      return {}
    encoded = matcher_evaluation.encode_split(self.model, self._vocabulary, self._validation)
    similarity = self._scorer.similarity_matrix(encoded.images, encoded.captions)
    figures = retrieval.retrieval(similarity, encoded.image_of_caption)
    return figures | self._attention.judge()

  def pictures(self) -> dict[str, Any]:
    return self._attention.draw()


def train(
  data: prepared_data.PreparedData, config: MatcherTrainingConfig, folder: files.PathLike
) -> dict[str, float]:
  """Trains (or goes on training) a matcher; returns its last validation figures."""
  _check_regions(data, config.model)
  reads_positions = base.MATCHERS.get(config.model).reads_positions
  if reads_positions and not (data.has_boxes or data.has_position_blocks):
    raise errors.UserError(
      f"{data.folder} has regions without boxes; {config.model} reads where regions are: "
      "prepare the data with boxes, or from arrays with 30 columns of position blocks"
    )
  split = data.split("train")
  vocabulary = data.build_vocabulary("matcher", config.min_count)
  keras.utils.set_random_seed(config.seed)
  model = run_folders.make_model("matcher", config.model, model_config(data, vocabulary, config))
  batch_config = pipeline.BatchConfig(
    images=min(config.batch_size, len(split.words)),
    items="caption",
    max_words=min(config.max_words, split.max_words),
    buckets=config.buckets,
    seed=config.seed,
    **model.batch_options,
  )
  steps_per_epoch = pipeline.steps_per_epoch(split, batch_config)
  run_folders.write_config(
    folder,
    "matcher",
    config.model,
    model.config,
    vocabulary,
    {
      "training": configs.to_dict(config),
      "data": str(data.folder),
      "dataset": data.name,
      # Captions of a `precomp` folder keep the words that its own tokeniser made of them.
      "tokenizer": None if data.name == "scan_precomp" else "caption",
      "command": " ".join(sys.argv),
    },
  )
  pictures.write_options(folder, config)
  validation = data.split("val") if "val" in data.splits else None
  trainer = _ValidatedTrainer(model, config.losses, vocabulary, validation)
  loop_config = loop.of_run(config, steps_per_epoch, config.max_steps)

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, vocabulary, batch_config, start_step, worker)

  with pipeline.clear_errors():
    return loop.train(trainer, batches, loop_config, folder, label=f"training {config.model}")


def _check_regions(data: prepared_data.PreparedData, model: str) -> None:
  if data.feature_size or (data.has_labels and base.MATCHERS.get(model).attends):
    return
  raise errors.UserError(
    f"{data.folder} has regions without features; {model} needs them: "
    "prepare the data with --regions=noisy or a region store"
  )


def model_config(
  data: prepared_data.PreparedData,
  vocabulary: vocabularies.Vocabulary,
  config: MatcherTrainingConfig,
) -> Any:
  """The model's own options, sizes filled in from data and vocabulary.

  Labels are read where regions carry no features.
  """
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  if not data.feature_size:
    sizes["num_labels"] = len(vocabulary.labels)
  cls = base.MATCHERS.get(config.model).Config
  if "regions" in {field.name for field in dataclasses.fields(cls)}:
    sizes["regions"] = data.max_regions
  return configs.from_dict(cls, {**config.options, **sizes}, f"matcher {config.model}")
