"""From a trained captioner to one that was fine-tuned by self-critical training."""

import dataclasses
import pathlib
from typing import Literal

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.metrics import coco_io
from gcap_tf.rewards import (
  bleu,
  cider_d,
  document_frequency,
  matcher_score,
  ngrams,
  spice,
  weighted,
)
from gcap_tf.runs import run_folders
from gcap_tf.text import tagging
from gcap_tf.training import (
  caption_table,
  computing,
  fine_tuning,
  loop,
  optimizers,
  reward_curves,
  schedules,
)
from gcap_tf.training.methods import scst

_SCHEDULE = schedules.ScheduleConfig("constant", 5e-5)
_OPTIMIZER = optimizers.OptimizerConfig(clip="value", clip_at=0.1)
_LEAST_SEEN = 0.9


@dataclasses.dataclass(frozen=True)
class ScstTrainingConfig:
  """Everything that changes the numbers of a self-critical run.

  Attributes:
    start: run folder of the captioner to begin with.
    rewards: name:weight of each term, see rewards/weighted.py.
    matcher: run folder of the matcher that the reward "matcher" asks.
    teacher: run folder of the matcher whose attention is distilled; "" takes `matcher`.
    document_frequency: a file of another program (`*-idxs.p`) or run (.npz) instead of
      counting the training captions.
    nouns: how nouns of generated captions are found, see rewards/matcher_score.py.
    final_period: shows the matcher a period behind every caption, as the released code does.
    images: pictures of a step.
    max_words: references are cut to it; 0 takes what the start was trained with.
    epochs, max_steps, evaluate_every, early_stop, seed: as for any captioner.
    sampling: what is drawn and compared.
    schedule, optimizer: how it is learned; published: 5e-5, constant, clamped at 0.1.
    compute: on what.
  """

  start: str = ""
  rewards: str = "cider:1"
  matcher: str = ""
  teacher: str = ""
  document_frequency: str = ""
  nouns: Literal["table", "tagger"] = "table"
  final_period: bool = False
  images: int = 29
  max_words: int = 0
  epochs: int = 80
  max_steps: int = 0
  evaluate_every: int = 0
  early_stop: int = 0
  seed: int = 1
  sampling: scst.ScstConfig = dataclasses.field(default_factory=scst.ScstConfig)
  schedule: schedules.ScheduleConfig = _SCHEDULE
  optimizer: optimizers.OptimizerConfig = _OPTIMIZER
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


def train(
  data: prepared_data.PreparedData, config: ScstTrainingConfig, folder: files.PathLike
) -> dict[str, float]:
  """Fine-tunes (or goes on fine-tuning); returns the last validation figures."""
  weights = weighted.parse(config.rewards)
  check_matchers(config, weights)
  start = fine_tuning.open_start(config.start, data, folder)
  config = dataclasses.replace(config, max_words=fine_tuning.max_words(start, config.max_words))
  split, folder = data.split("train"), pathlib.Path(folder)
  fine_tuning.write_config(folder, start, config, data, "scst")
  table = caption_table.open_or_read(folder / "captions_train.npz", split, start.vocabulary)
  caption_table.check_known(table, start.vocabulary, f"the start {config.start}")

  matcher = teacher = None
  if "matcher" in weights:
    matcher = _matcher(config.matcher, "reward", config, start, data, table)
  if config.sampling.distill_weight:
    teacher = _matcher(config.teacher or config.matcher, "teacher", config, start, data, table)
  terms = _terms(weights, config, folder, start, split, table)
  files.write_text(folder / "rewards.md", reward_curves.LEGEND)
  validate = fine_tuning.validation(start, data)
  trainer = scst.ScstTrainer(
    start.model,
    config.sampling,
    weighted.WeightedSum(weights, terms),
    matcher,
    teacher,
    validate,
  )
  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)), max_words=1, seed=config.seed
  )
  loop_config = loop.of_run(config, pipeline.steps_per_epoch(split, batch_config), config.max_steps)

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, start.vocabulary, batch_config, start_step, worker)

  with pipeline.clear_errors():
    fine_tuning.record_start(folder, validate)
    return loop.train(trainer, batches, loop_config, folder, label=f"SCST of {start.name}")


def check_matchers(config: ScstTrainingConfig, weights: dict[str, float]) -> None:
  """A `UserError` where a matcher is wanted and not named, or named and not wanted."""
  if "matcher" in weights and not config.matcher:
    raise errors.UserError(
      f'rewards "{config.rewards}" ask for a matcher: name its run folder with --matcher=RUN '
      "(SCAN for the published main model; a POS-SCAN reward lowers CIDEr)"
    )
  distils = config.sampling.distill_weight > 0
  if distils and not (config.teacher or config.matcher):
    raise errors.UserError("distill_weight is above 0: name a matcher with --teacher=RUN")
  if config.matcher and "matcher" not in weights and not distils:
    raise errors.UserError(
      f"--matcher={config.matcher} is named but not used: add matcher:1 to --rewards"
    )
  if config.teacher and not distils:
    raise errors.UserError(
      f"--teacher={config.teacher} is named but not used: set --distill_weight above 0"
    )


def _matcher(path, role, config, start, data, table) -> matcher_score.MatcherScore:
  """Loads a matcher and says so: which one is used must never be a riddle."""
  run = run_folders.load(path, "matcher")
  if run.model.config.feature_size != data.feature_size:
    raise errors.UserError(
      f"matcher {path} was trained on regions of {run.model.config.feature_size} features, "
      f"{data.folder} has {data.feature_size}; use a matcher of the same regions"
    )
  reads_labels = getattr(run.model.config, "num_labels", 0) > 0
  if reads_labels and run.vocabulary.labels != start.vocabulary.labels:
    raise errors.UserError(
      f"matcher {path} and {config.start} read different region labels; train both on the same data"
    )
  if role == "teacher" and not run.model.attends:
    raise errors.UserError(f"matcher {path} ({run.name}) has no attention to distil")
  print(f"{role}: {run.name} from {pathlib.Path(path).resolve()} (nouns by {config.nouns})")
  return matcher_score.MatcherScore(
    run.model,
    run.vocabulary,
    start.vocabulary,
    table.noun_words(start.vocabulary.size),
    tagging.load_tagger() if config.nouns == "tagger" else None,
    config.final_period,
    where=f"matcher {path}",
  )


def _terms(weights, config, folder, start, split, table) -> dict[str, weighted.Term]:
  references = table.references(config.max_words)
  terms: dict[str, weighted.Term] = {}
  if "cider" in weights:
    stamp = caption_table.mark(split, start.vocabulary)
    frequency = frequencies(folder, config.document_frequency, table, stamp)
    terms["cider"] = cider_d.CiderD(references, frequency)
  if "bleu" in weights:
    terms["bleu"] = bleu.Bleu4(references)
  if "spice" in weights:
    texts = coco_io.read_references(split.data.captions_path(split.name))
    terms["spice"] = spice.Spice(texts, start.vocabulary)
  return terms


def frequencies(
  folder: pathlib.Path, given: str, table: caption_table.CaptionTable, stamp: str
) -> document_frequency.DocumentFrequency:
  """Document frequencies of the run: given, kept from before, or counted; kept in the run.

  Args:
    folder: of the run.
    given: a file to read them from, "" for none.
    table: the training captions.
    stamp: of data and vocabulary.
  """
  path = folder / "document_frequency.npz"
  if given:
    if given.endswith(".npz"):
      frequency = document_frequency.DocumentFrequency.load(given, stamp)
    else:
      frequency = document_frequency.read_pickle(given)
    check_frequencies(frequency, table, given)
  elif path.exists():
    return document_frequency.DocumentFrequency.load(path, stamp)
  else:
    frequency = table.document_frequency()
  frequency.save(path, stamp)
  return frequency


def check_frequencies(
  frequency: document_frequency.DocumentFrequency, table: caption_table.CaptionTable, where: str
) -> None:
  """A `UserError` where the frequencies were counted over other captions or in other ids."""
  pictures = len(table.image_ids)
  if round(frequency.images) != pictures:
    raise errors.UserError(
      f"document frequencies {where} count {frequency.images:,.0f} pictures, the training split "
      f"has {pictures:,}: they belong to another dataset; leave them out to count anew"
    )
  keys = np.unique(ngrams.extract(table.ids.astype(np.int64), table.lengths)[1])
  seen = float(np.isin(keys, frequency.keys).mean())
  if seen < _LEAST_SEEN:
    raise errors.UserError(
      f"document frequencies {where} know {seen:.0%} of the training captions' n-grams: they "
      "belong to another dataset or vocabulary; leave them out to count anew"
    )
