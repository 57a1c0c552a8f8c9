"""Training a matcher: ranking loss and the constraints on its attention.

    L = L_rank + lambda_CCR l_CCR + lambda_CCS l_CCS     (Chen et al., WACV 2023, Eq. 8)

With several replicas, each scores its captions against the pictures and captions of all.
If a batch is computed in parts, each part is ranked by itself: it has fewer negatives.
"""

import dataclasses
import functools
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation import matcher_validation
from gcap_tf.layers import dropout
from gcap_tf.losses import ccr, ccs, ranking
from gcap_tf.matchers import base
from gcap_tf.runs import run_folders
from gcap_tf.training import (
  contract,
  loop,
  loop_options,
  matcher_model,
  replicas,
  run_files,
  schedules,
)

CONSTRAINT_SALT = 401
_SCAN_SCHEDULE = schedules.ScheduleConfig("step_decay", 2e-4, factor=0.1, every=15)


@dataclasses.dataclass(frozen=True)
class MatchingLosses:
  """Weights and kinds of the losses.

  Attributes:
    margin: gamma_1 of the ranking loss.
    negatives: the hardest negative of the batch, or the sum over all.
    sum_epochs: first epochs, trained with the sum over all negatives; hard negatives from
      the start can leave all scores equal (the loss then stays at 2 * batch * margin).
    exclude_same_image: captions of the same picture in a batch are not negatives.
      Departure: in the released programs they are.
    ccr_weight: lambda_CCR; 0 leaves the constraint out. The paper searches {0.1, 1}.
    ccs_weight: lambda_CCS; 0 leaves the constraint out. The paper searches {0.1, 1}.
    ccr_margin: gamma_2. The paper searches {0, 0.1, 0.2}.
    ccs_margin: gamma_3. The paper searches {0, 0.1, 0.2}.
    constrained_queries: one random query of each pair (the paper), or all.
  """

  margin: configs.Weight = 0.2
  negatives: ranking.Negatives = "hardest"
  sum_epochs: configs.Count = 0
  exclude_same_image: bool = False
  ccr_weight: configs.Weight = 0.0
  ccs_weight: configs.Weight = 0.0
  ccr_margin: configs.Weight = 0.1
  ccs_margin: configs.Weight = 0.1
  constrained_queries: ccr.Queries = "one"


@dataclasses.dataclass(frozen=True, kw_only=True)
class MatcherTrainingConfig(matcher_model.MatcherOptions, loop_options.LoopOptions):
  """Everything that changes the numbers of a matcher's run.

  Attributes:
    batch_size: pairs of a step.
    max_words: longer captions are cut.
    buckets: word counts that batches are padded to.
    losses: weights and kinds of the losses.
  """

  batch_size: configs.PositiveInt = 128
  max_words: configs.PositiveInt = 60
  buckets: tuple[configs.PositiveInt, ...] = (8, 12, 16, 24)
  losses: MatchingLosses = dataclasses.field(default_factory=MatchingLosses)
  schedule: schedules.ScheduleConfig = _SCAN_SCHEDULE


class MatchingTrainer(contract.Trainer):
  """Ranking loss and constraints.

  Args:
    model: any matcher.
    config: weights and kinds of the losses.
    validation: scores the matcher; None gives no figures.
  """

  best_metric = "rsum"

  def __init__(
    self,
    model: base.Matcher,
    config: MatchingLosses,
    validation: matcher_validation.Validation | None = None,
  ):
    if (config.ccr_weight or config.ccs_weight) and not model.attends:
      raise errors.UserError(
        "ccr_weight and ccs_weight constrain attention, which this matcher does not have; "
        "leave them at 0, or train another matcher"
      )
    self.model, self.config, self._validation = model, config, validation
    self.sums_negatives = tf.Variable(config.sum_epochs > 0, trainable=False)

  def begin_epoch(self, epoch: int) -> None:
    """Sets which negatives count in a 0-based epoch."""
    self.sums_negatives.assign(epoch < self.config.sum_epochs)

  def evaluate(self) -> dict[str, float]:
    return self._validation() if self._validation else {}

  def pictures(self) -> dict[str, Any]:
    return self._validation.pictures() if self._validation else {}

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    images = model.encode_images(batch, seed)
    captions = model.encode_captions(batch, seed)
    pictures, sentences = tf.shape(batch["features"])[0], tf.shape(batch["tokens"])[0]
    own_picture = base.own_pictures(pictures, sentences)
    losses = {"ranking": self._ranking(batch, images, captions, own_picture)}
    if config.ccr_weight or config.ccs_weight:
      matched = model.fragments(base.take(images, own_picture), captions)
      for index, fragments in enumerate(matched):
        query_seed = dropout.derive(seed, CONSTRAINT_SALT + index)
        for name, weight, loss, margin in (
          ("ccr", config.ccr_weight, ccr.loss, config.ccr_margin),
          ("ccs", config.ccs_weight, ccs.loss, config.ccs_margin),
        ):
          if weight:
            losses[name] = losses.get(name, 0.0) + weight * loss(
              fragments, margin, query_seed, config.constrained_queries
            )
    return losses

  def _ranking(self, batch, images, captions, own_picture):
    """The ranking loss of this replica's captions among those of all replicas."""
    first_image = replicas.offset(batch["features"])
    first_caption = replicas.offset(batch["tokens"])
    count = tf.shape(batch["tokens"])[0]
    own = replicas.gather(own_picture + first_image)
    images, captions = _gather_all(images), _gather_all(captions)
    numbers = tf.range(tf.shape(own)[0])
    anchors = (numbers >= first_caption) & (numbers < first_caption + count)
    positives = None
    if self.config.exclude_same_image:
      names = replicas.gather(tf.strings.to_hash_bucket_fast(batch["image_id"], 2**31 - 1))
      positives = names[:, None] == tf.gather(names, own)[None]
    every = (images, captions, own, anchors, positives)
    if self.config.negatives == "sum":
      return self._dense("sum", *every)
    hardest = self._sparse
    if not self.model.pairs_are_independent:
      hardest = functools.partial(self._dense, "hardest")
    if not self.config.sum_epochs:
      return hardest(*every)
    return tf.cond(self.sums_negatives, lambda: self._dense("sum", *every), lambda: hardest(*every))

  def _dense(self, negatives, images, captions, own, anchors, positives):
    """Every score with its gradient."""
    similarity = self.model.similarity(images, captions, training=True)
    return ranking.triplet(similarity, own, self.config.margin, negatives, anchors, positives)

  def _sparse(self, images, captions, own, anchors, positives):
    """The hardest negatives, found without gradients and scored again with them."""
    similarity = tf.stop_gradient(
      self.model.similarity(
        *tf.nest.map_structure(tf.stop_gradient, (images, captions)), training=True
      )
    )
    if positives is None:
      positives = ranking.own_pairs(similarity, own)
    mine = tf.cast(tf.where(anchors)[:, 0], tf.int32)
    own, hard_captions, hard_images, some_caption, some_image = (
      tf.gather(of_captions, mine)
      for of_captions in (
        own,
        *ranking.hard_negatives(similarity, own, positives),
        *ranking.has_negatives(positives, own),
      )
    )
    scores = self.model.pair_similarity(
      images,
      captions,
      tf.concat([own, own, hard_images], 0),
      tf.concat([mine, hard_captions, mine], 0),
    )
    matched, with_caption, with_image = tf.split(scores, 3)
    margin = self.config.margin
    return ranking.hinge(matched, with_caption, margin, some_caption) + ranking.hinge(
      matched, with_image, margin, some_image
    )


def _gather_all(encoded: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
  return {name: replicas.gather(tensor) for name, tensor in sorted(encoded.items())}


@run_files.alone
def train(
  data: prepared_data.PreparedData,
  config: MatcherTrainingConfig,
  folder: files.PathLike,
  override: bool = False,
) -> dict[str, float]:
  """Trains a matcher, or continues to; returns its last validation figures."""
  configs.check(config)
  matcher_model.check_regions(data, config.model)
  split = data.split("train")
  vocabulary = data.build_vocabulary("matcher", config.min_count, config.vocabulary_splits)
  keras.utils.set_random_seed(config.seed)
  model_config = matcher_model.model_config(data, vocabulary, config)
  model = run_folders.make_model("matcher", config.model, model_config)
  # Captions of a `precomp` folder keep the words that its own tokeniser made of them.
  tokenizer = None if data.name == "scan_precomp" else "caption"
  record = run_files.check(
    folder, "matcher", config.model, model, vocabulary, config, data, override, tokenizer=tokenizer
  )
  val = data.split("val") if "val" in data.splits else None
  validation = matcher_validation.Validation(model, vocabulary, val)
  trainer = MatchingTrainer(model, config.losses, validation)

  batch_config = pipeline.BatchConfig(
    images=min(config.batch_size, len(split.words)),
    items="caption",
    max_words=min(config.max_words, split.max_words),
    buckets=config.buckets,
    seed=config.seed,
    **model.batch_options,
  )
  loop_config = loop.from_options(config, pipeline.steps_per_epoch(split, batch_config))

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, vocabulary, batch_config, start_step, worker)

  with pipeline.clear_errors():
    return loop.train(trainer, batches, loop_config, folder, f"training {config.model}", record)
