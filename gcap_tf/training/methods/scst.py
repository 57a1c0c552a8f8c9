"""Self-critical training of a captioner: draw, compare, reinforce.

One graph does it all: it encodes the pictures with dropout, draws captions, decodes greedily
without dropout, has the matcher score both, and runs over the drawn captions again with a
gradient (the same dropout, so the same log-probabilities: decoding/sample.py). The terms that
count n-grams are computed in NumPy, once a step, in one call out of the graph.

Departure from the released code, which draws from a graph that keeps every step for the
gradient: drawing without a gradient and a second pass by teacher forcing cost less here, as
the second pass multiplies all words with the output layer at once and skips padding.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import base, likelihood
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import greedy, sample
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.losses import distillation
from gcap_tf.losses import scst as scst_losses
from gcap_tf.rewards import matcher_score, weighted
from gcap_tf.training import replicas, reward_curves, trainer


@dataclasses.dataclass(frozen=True)
class ScstConfig:
  """What is drawn, and what with it is learned.

  Attributes:
    baseline: "greedy", or "mean_of_others" for the mean reward of the picture's other samples.
    samples: captions drawn per picture.
    max_length: words of a caption at most.
    temperature: of the draws.
    distill_weight, distill_loss, distill_area: attention distillation on the drawn captions'
      nouns, as in `captioning.CaptioningConfig`.
  """

  baseline: scst_losses.Baseline = "greedy"
  samples: int = 5
  max_length: int = 20
  temperature: float = 1.0
  distill_weight: float = 0.0
  distill_loss: distillation.Kind = "kl"
  distill_area: float = 0.0

  def __post_init__(self):
    if self.baseline == "mean_of_others" and self.samples < 2:
      raise errors.UserError(
        f"the baseline mean_of_others needs 2 samples per picture or more, not {self.samples}"
      )


class ScstTrainer(trainer.Trainer):
  """Losses of self-critical training, and the rewards as figures to log.

  Args:
    model: any captioner.
    config: what to draw.
    rewards: the sum to raise.
    matcher: scores the reward "matcher"; None where the sum has none.
    teacher: whose attention is distilled; None for none. It may be `matcher`.
    validate: () -> validation figures, "cider" among them.
  """

  best_metric = "cider"

  def __init__(
    self,
    model: base.Captioner,
    config: ScstConfig,
    rewards: weighted.WeightedSum,
    matcher: matcher_score.MatcherScore | None = None,
    teacher: matcher_score.MatcherScore | None = None,
    validate: Callable[[], dict[str, float]] = dict,
  ):
    self.model, self.config, self._rewards = model, config, rewards
    self._matcher, self._teacher, self._validate = matcher, teacher, validate
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

  def evaluate(self) -> dict[str, float]:
    return self._validate()

  def texts(self) -> dict[str, str]:
    return {"how_to_read_the_rewards": reward_curves.LEGEND}

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    memory = model.encode(batch, seed)
    drawn = sample.decode(model, memory, self._sample, seed, noise_seed=seed)["tokens"]
    advantages, figures = self._advantages(batch, drawn)

    tokens = likelihood.trim(drawn)
    mask = likelihood.emitted(tokens)
    outputs = model.teacher_force(memory, tokens, seed)
    log_probs = likelihood.packed_log_probs(model, outputs, tokens, mask, seed)
    loss = scst_losses.policy_loss(log_probs, advantages, mask)
    losses = {"policy": replicas.share(loss, mask)}
    if config.distill_weight:
      losses["distillation"] = config.distill_weight * self._distil(batch, tokens, outputs)
    everyone = tf.ones(tf.shape(drawn)[:1], tf.bool)
    return losses | {name: replicas.share(mean, everyone) for name, mean in figures.items()}

  def _advantages(self, batch, drawn: tf.Tensor) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
    """[B] of the drawn captions, and the figures to log.

    Greedy captions share the calls of matcher and scorer with the drawn ones.
    """
    pictures, count = tf.shape(batch["region_mask"])[0], tf.shape(drawn)[0]
    owners = tf.repeat(tf.range(pictures), self.config.samples)
    captions = drawn
    if self.config.baseline == "greedy":
      best = greedy.decode(self.model, self.model.encode(batch), self._greedy)["tokens"]
      captions = tf.concat([drawn, best], 0)
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
      "words": mean(tf.reduce_sum(tf.cast(drawn > 0, tf.float32), 1)),
      "unfinished": mean(tf.cast(drawn[:, -1] > 0, tf.float32)),
    }

  def _score(self, batch, captions: tf.Tensor, owners: tf.Tensor) -> tf.Tensor:
    """r of captions [N, T] and its terms, [N, 1 + terms]."""
    given = tf.zeros(tf.shape(owners))
    if self._matcher is not None:
      images = self._matcher.matcher.encode_images(batch)
      encoded = self._matcher.matcher.encode_captions(
        self._matcher.captions(likelihood.trim(captions))
      )
      given = self._matcher.score(images, encoded, owners)
    arguments = [captions, tf.gather(batch["image_id"], owners), given]
    scores = tf.numpy_function(self.score_outside, arguments, tf.float32, stateful=False)
    width = 1 + len(self._rewards.weights)
    return tf.stop_gradient(tf.ensure_shape(scores, [None, width]))

  def score_outside(self, captions, images, given) -> np.ndarray:
    """The one call out of the graph: n-gram rewards and the sum."""
    names = [image.decode() for image in images]
    total, each = self._rewards.score(captions, names, {"matcher": given})
    return np.stack([total, *each.values()], 1).astype(np.float32)

  def _distil(self, batch, tokens: tf.Tensor, outputs) -> tf.Tensor:
    """Distillation on drawn nouns, from the teacher that reads the drawn captions."""
    teacher = self._teacher
    images = teacher.matcher.encode_images(batch)
    read = teacher.captions(tokens)
    owners = tf.repeat(tf.range(tf.shape(batch["region_mask"])[0]), self.config.samples)
    alpha = teacher.attention(images, teacher.matcher.encode_captions(read), owners)
    alpha = tf.stop_gradient(alpha)
    if self.config.distill_area:
      alpha = distillation.prefer_large(alpha, batch["boxes"], self.config.distill_area)
    nouns = read["noun_mask"][:, 1 : tf.shape(tokens)[1] + 1]
    loss = distillation.loss(self.config.distill_loss, alpha, outputs["attention"][:, :, 0], nouns)
    return replicas.share(loss, distillation.words(alpha, nouns))
