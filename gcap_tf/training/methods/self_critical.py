"""Self-critical training of a captioner: sample captions, compare rewards, reinforce.

One graph does it all: it encodes the pictures with dropout, samples captions, decodes greedily
without dropout, lets the matcher score both, and runs over the sampled captions again with a
gradient (the same dropout, so the same log-probabilities: decoding/sample.py). Rewards that
count n-grams are computed in NumPy, in one call out of the graph per step.

Departure from the released code, which samples from a graph that keeps every step for the
gradient: sampling without a gradient and a second pass by teacher forcing cost less here, as
the second pass multiplies all words with the output layer at once and skips padding.
"""

import dataclasses
import pathlib
from typing import Literal

import numpy as np
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.captioners import base, likelihood
from gcap_tf.data.prepared import feature_layout, pipeline, prepared_data, region_noise
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import greedy, sample
from gcap_tf.evaluation import caption_validation, captioner_evaluation
from gcap_tf.losses import distillation
from gcap_tf.losses import scst as scst_losses
from gcap_tf.rewards import matcher_score, weighted
from gcap_tf.training import (
  captioner_trainer,
  label_teacher,
  loop,
  loop_options,
  optimizers,
  replicas,
  run_files,
  schedules,
)
from gcap_tf.training.fine_tuning import caption_table, reward_curves, reward_terms, start_run

_SCHEDULE = schedules.ScheduleConfig("constant", 5e-5)
_OPTIMIZER = optimizers.OptimizerConfig(clip="value", clip_at=0.1)


@dataclasses.dataclass(frozen=True)
class SampledCaptions:
  """Sampled captions and their weight in the loss.

  Attributes:
    baseline: "greedy", or "mean_of_others" for the mean reward of the picture's other samples.
    samples: captions sampled per picture.
    max_length: words of a caption at most.
    temperature: temperature of sampling.
    distill_weight: weight of attention distillation on the nouns of sampled captions.
    distill_loss: direction of distillation, as in `loss_options.CaptioningLosses`.
    distill_area: power of a region's area that weights the teacher's attention.
    distill_labels: power of the detector's labels that teach the words they name.
  """

  baseline: scst_losses.Baseline = "greedy"
  samples: configs.PositiveInt = 5
  max_length: configs.PositiveInt = 20
  temperature: configs.Positive = 1.0
  distill_weight: configs.Weight = 0.0
  distill_loss: distillation.Kind = "kl"
  distill_area: configs.Weight = 0.0
  distill_labels: configs.Weight = 0.0

  def __post_init__(self):
    if self.baseline == "mean_of_others" and self.samples < 2:
      raise errors.UserError(
        f"the baseline mean_of_others needs 2 samples per picture or more, not {self.samples}"
      )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScstTrainingConfig(loop_options.LoopOptions):
  """Everything that changes the numbers of a self-critical run.

  Attributes:
    start: run folder of the captioner to begin with.
    rewards: name:weight of each term, see rewards/weighted.py.
    matcher: run folder of the matcher that computes the reward "matcher".
    teacher: run folder of the matcher whose attention is distilled; "" takes `matcher`.
    document_frequency: a file of another program (`*-idxs.p`) or run (.npz) instead of
      counting the training captions.
    nouns: how nouns of generated captions are found, see rewards/matcher_score.py.
    final_period: shows the matcher a period after every caption, as the released code does.
    images: pictures of a step.
    max_words: references are cut to it; 0 takes the limit that the start was trained with.
    sampled_captions: how captions are sampled and compared.
    noise: how the regions of a batch are changed; rewards see the changed regions, too.
    schedule: learning rate over time; published: 5e-5, constant.
    optimizer: Adam and gradient clipping; published: clamped at 0.1.
  """

  start: str = ""
  rewards: str = "cider:1"
  matcher: str = ""
  teacher: str = ""
  document_frequency: str = ""
  nouns: Literal["table", "tagger"] = "table"
  final_period: bool = False
  images: configs.PositiveInt = 29
  max_words: configs.Count = 0
  epochs: configs.PositiveInt = 80
  sampled_captions: SampledCaptions = dataclasses.field(default_factory=SampledCaptions)
  noise: region_noise.RegionNoise = dataclasses.field(default_factory=region_noise.RegionNoise)
  schedule: schedules.ScheduleConfig = _SCHEDULE
  optimizer: optimizers.OptimizerConfig = _OPTIMIZER


class ScstTrainer(captioner_trainer.CaptionerTrainer):
  """Losses of self-critical training, and the rewards as figures to log.

  Args:
    model: any captioner.
    config: how captions are sampled.
    rewards: the sum to maximise.
    matcher: scores the reward "matcher"; None if the sum has none.
    teacher: matcher whose attention is distilled; None for none. It may be `matcher`.
    validation: scores the captioner; None gives no figures.
    changer: changes the regions of every batch; None leaves them.
    labels: teaches the attention of words that a detector knows; None leaves all to the teacher.
  """

  def __init__(
    self,
    model: base.Captioner,
    config: SampledCaptions,
    rewards: weighted.WeightedSum,
    matcher: matcher_score.MatcherScore | None = None,
    teacher: matcher_score.MatcherScore | None = None,
    validation: caption_validation.Validation | None = None,
    changer: region_noise.RegionChanger | None = None,
    labels: label_teacher.LabelTeacher | None = None,
  ):
    super().__init__(model, validation)
    self.config, self._rewards, self._changer = config, rewards, changer
    self._labels = labels
    self._matcher, self._teacher = matcher, teacher
    self.reported = (
      *("reward_sample", "reward_baseline", "advantage"),
      *(f"reward_{name}" for name in rewards.weights),
      *("words", "unfinished"),
    )
    usual = captioner_evaluation.usual_decoding(model)
    self._greedy = dataclasses.replace(usual, max_length=config.max_length, details=False)
    self._sample = decode_config.DecodeConfig(
      "sample",
      config.max_length,
      samples=config.samples,
      temperature=config.temperature,
      details=False,
    )

  def texts(self) -> dict[str, str]:
    return super().texts() | {"how_to_read_the_rewards": reward_curves.LEGEND}

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    if self._changer is not None:
      batch = self._changer(batch, seed)
    memory = model.encode(batch, seed)
    sampled = sample.decode(model, memory, self._sample, seed, noise_seed=seed)["tokens"]
    advantages, figures = self._advantages(batch, sampled)

    tokens = likelihood.trim(sampled)
    mask = likelihood.emitted(tokens)
    outputs = model.teacher_force(memory, tokens, seed)
    log_probs = likelihood.packed_log_probs(model, outputs, tokens, mask, seed)
    loss = scst_losses.policy_loss(log_probs, advantages, mask)
    losses = {"policy": replicas.share(loss, mask)}
    if config.distill_weight:
      losses["distillation"] = config.distill_weight * self._distill(batch, tokens, outputs)
    captions = tf.ones(tf.shape(sampled)[:1], tf.bool)
    return losses | {name: replicas.share(mean, captions) for name, mean in figures.items()}

  def _advantages(self, batch, sampled: tf.Tensor) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
    """Advantages [B] of the sampled captions, and the figures to log.

    Greedy captions are scored in the same calls as the sampled ones.
    """
    pictures, count = tf.shape(batch["region_mask"])[0], tf.shape(sampled)[0]
    owners = tf.repeat(tf.range(pictures), self.config.samples)
    captions = sampled
    if self.config.baseline == "greedy":
      best = greedy.decode(self.model, self.model.encode(batch), self._greedy)["tokens"]
      captions = tf.concat([sampled, best], 0)
      owners = tf.concat([owners, tf.range(pictures)], 0)
    scores = self._score(batch, captions, owners)  # [B + I or B, 1 + terms]
    rewards = scores[:count, 0]
    if self.config.baseline == "greedy":
      baseline = scores[count:, 0]
      advantages = scst_losses.advantages(rewards, baseline)
    else:
      baseline = rewards
      advantages = scst_losses.advantages_over_others(rewards, self.config.samples)
    mean = tf.reduce_mean
    terms = zip(self._rewards.weights, tf.unstack(mean(scores[:count, 1:], 0)), strict=True)
    return advantages, {
      "reward_sample": mean(rewards),
      "reward_baseline": mean(baseline),
      "advantage": mean(advantages),
      **{f"reward_{name}": value for name, value in terms},
      "words": mean(tf.reduce_sum(tf.cast(sampled > 0, tf.float32), 1)),
      "unfinished": mean(tf.cast(sampled[:, -1] > 0, tf.float32)),
    }

  def _score(self, batch, captions: tf.Tensor, owners: tf.Tensor) -> tf.Tensor:
    """The reward of captions [N, T], and its terms: [N, 1 + terms]."""
    matched = tf.zeros(tf.shape(owners))
    if self._matcher is not None:
      images = self._matcher.matcher.encode_images(batch)
      encoded = self._matcher.matcher.encode_captions(
        self._matcher.captions(likelihood.trim(captions))
      )
      matched = self._matcher.score(images, encoded, owners)
    arguments = [captions, tf.gather(batch["image_id"], owners), matched]
    scores = tf.numpy_function(self.score_outside, arguments, tf.float32, stateful=False)
    width = 1 + len(self._rewards.weights)
    return tf.stop_gradient(tf.ensure_shape(scores, [None, width]))

  def score_outside(self, captions, images, matched) -> np.ndarray:
    """The one call out of the graph: n-gram rewards and the sum."""
    names = [image.decode() for image in images]
    total, each = self._rewards.score(captions, names, {"matcher": matched})
    return np.stack([total, *each.values()], 1).astype(np.float32)

  def _distill(self, batch, tokens: tf.Tensor, outputs) -> tf.Tensor:
    """Distillation on sampled nouns, from a teacher that reads the sampled captions."""
    teacher = self._teacher
    images = teacher.matcher.encode_images(batch)
    read = teacher.captions(tokens)
    owners = tf.repeat(tf.range(tf.shape(batch["region_mask"])[0]), self.config.samples)
    alpha = teacher.attention(images, teacher.matcher.encode_captions(read), owners)
    alpha = tf.stop_gradient(alpha)
    if self._labels is not None:
      alpha = self._labels(batch, tokens, alpha)
    if self.config.distill_area:
      alpha = distillation.prefer_large(alpha, batch["boxes"], self.config.distill_area)
    nouns = read["noun_mask"][:, 1 : tf.shape(tokens)[1] + 1]
    loss = distillation.loss(self.config.distill_loss, alpha, outputs["attention"][:, :, 0], nouns)
    return replicas.share(loss, distillation.words(alpha, nouns))


@run_files.alone
def train(
  data: prepared_data.PreparedData,
  config: ScstTrainingConfig,
  folder: files.PathLike,
  override: bool = False,
) -> dict[str, float]:
  """Fine-tunes a captioner, or continues to; returns the last validation figures."""
  configs.check(config)
  weights = weighted.parse(config.rewards)
  check_matchers(config, weights)
  start = start_run.open_start(config.start, data, folder)
  config = dataclasses.replace(config, max_words=start_run.max_words(start, config.max_words))
  split, folder = data.split("train"), pathlib.Path(folder)
  record = start_run.check(folder, start, config, data, "scst", override)
  table = caption_table.open_or_read(folder / "captions_train.npz", split, start.vocabulary)
  caption_table.check_known(table, start.vocabulary, f"the start {config.start}")

  reading = (start, data, table, config.nouns, config.final_period)
  matcher = teacher = None
  if "matcher" in weights:
    matcher = reward_terms.load_matcher(config.matcher, "reward", *reading)
  if config.sampled_captions.distill_weight:
    teacher = reward_terms.load_matcher(config.teacher or config.matcher, "teacher", *reading)
  references = table.references(config.max_words)
  frequency = config.document_frequency
  terms = reward_terms.terms(weights, references, folder, frequency, start, split, table)
  files.write_text(folder / "rewards.md", reward_curves.LEGEND)
  validation = start_run.validation(start, data)
  rewards = weighted.WeightedSum(weights, terms)
  changer = feature_layout.changer(data, start.vocabulary, config.noise)
  power = config.sampled_captions.distill_labels if teacher else 0.0
  labels = label_teacher.create(data, start.vocabulary, power)
  trainer = ScstTrainer(
    start.model, config.sampled_captions, rewards, matcher, teacher, validation, changer, labels
  )

  batch_config = pipeline.BatchConfig(
    images=min(config.images, len(split)), max_words=1, seed=config.seed
  )
  loop_config = loop.from_options(config, pipeline.steps_per_epoch(split, batch_config))

  def batches(start_step: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
    return pipeline.training_batches(split, start.vocabulary, batch_config, start_step, worker)

  with pipeline.clear_errors():
    start_run.record_start(folder, validation)
    return loop.train(trainer, batches, loop_config, folder, f"SCST of {start.name}", record)


def check_matchers(config: ScstTrainingConfig, weights: dict[str, float]) -> None:
  """Raises a `UserError` if a matcher is needed and not named, or named and not needed."""
  if "matcher" in weights and not config.matcher:
    raise errors.UserError(
      f'rewards "{config.rewards}" need a matcher: name its run folder with --matcher=RUN '
      "(SCAN for the published main model; a POS-SCAN reward lowers CIDEr)"
    )
  distills = config.sampled_captions.distill_weight > 0
  if distills and not (config.teacher or config.matcher):
    raise errors.UserError("distill_weight is above 0: name a matcher with --teacher=RUN")
  if config.matcher and "matcher" not in weights and not distills:
    raise errors.UserError(
      f"--matcher={config.matcher} is named but not used: add matcher:1 to --rewards"
    )
  if config.teacher and not distills:
    raise errors.UserError(
      f"--teacher={config.teacher} is named but not used: set --distill_weight above 0"
    )
