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
from typing import Protocol

import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import base, likelihood
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import greedy, sample
from gcap_tf.losses import distillation
from gcap_tf.losses import scst as scst_losses
from gcap_tf.rewards import matcher_score, weighted
from gcap_tf.training import captioning, trainer


@dataclasses.dataclass(frozen=True)
class ScstConfig:
  """What is drawn, and what with it is learned.

  Attributes:
    baseline: "greedy", or "mean_of_others" for the mean reward of the picture's other samples.
    samples: captions drawn per picture.
    max_length: words of a caption at most.
    temperature: of the draws.
    distill_weight, distill_loss: attention distillation on the drawn captions' nouns.
  """

  baseline: scst_losses.Baseline = "greedy"
  samples: int = 5
  max_length: int = 20
  temperature: float = 1.0
  distill_weight: float = 0.0
  distill_loss: distillation.Kind = "kl"

  def __post_init__(self):
    if self.baseline == "mean_of_others" and self.samples < 2:
      raise errors.UserError(
        f"the baseline mean_of_others needs 2 samples per picture or more, not {self.samples}"
      )


class Curves(Protocol):
  def record(self, step: int, values: dict[str, float]) -> None:
    """Takes the mean rewards of a step."""


class ScstTrainer(trainer.Trainer):
  """Losses of self-critical training; batches also hold `step` [I], the 0-based step.

  Args:
    model: any captioner.
    config: what to draw.
    rewards: the sum to raise.
    matcher: scores the reward "matcher"; None where the sum has none.
    teacher: whose attention is distilled; None for none. It may be `matcher`.
    curves: takes the rewards of every step.
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
    curves: Curves | None = None,
    validate: Callable[[], dict[str, float]] = dict,
  ):
    self.model, self.config, self._rewards = model, config, rewards
    self._matcher, self._teacher, self._curves = matcher, teacher, curves
    self._validate = validate
    self._decode = decode_config.DecodeConfig(
      "sample", config.max_length, samples=config.samples, temperature=config.temperature
    )

  def evaluate(self) -> dict[str, float]:
    return self._validate()

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    memory = model.encode(batch, seed)
    drawn = sample.decode(model, memory, self._decode, seed, noise_seed=seed)["tokens"]
    advantages = self._advantages(batch, drawn)

    tokens = likelihood.trim(drawn)
    mask = likelihood.emitted(tokens)
    outputs = model.teacher_force(memory, tokens, seed)
    log_probs = likelihood.packed_log_probs(model, outputs, tokens, mask, seed)
    loss = scst_losses.policy_loss(log_probs, advantages, mask)
    losses = {"policy": captioning.share(loss, mask)}
    if config.distill_weight:
      losses["distillation"] = config.distill_weight * self._distil(batch, tokens, outputs)
    return losses

  def _advantages(self, batch, drawn: tf.Tensor) -> tf.Tensor:
    """[B] of the drawn captions; greedy captions share the calls of matcher and scorer."""
    pictures = tf.shape(batch["region_mask"])[0]
    owners = tf.repeat(tf.range(pictures), self.config.samples)
    captions = drawn
    if self.config.baseline == "greedy":
      best = greedy.decode(self.model, self.model.encode(batch), self._decode)["tokens"]
      captions = tf.concat([drawn, best], 0)
      owners = tf.concat([owners, tf.range(pictures)], 0)
    rewards = self._score(batch, captions, owners)
    count = tf.shape(drawn)[0]
    if self.config.baseline == "greedy":
      return scst_losses.advantages(rewards[:count], rewards[count:])
    return scst_losses.advantages_over_others(rewards, self.config.samples)

  def _score(self, batch, captions: tf.Tensor, owners: tf.Tensor) -> tf.Tensor:
    """r of captions [B + I] or [B], the drawn ones first."""
    given = tf.zeros(tf.shape(owners))
    if self._matcher is not None:
      images = self._matcher.matcher.encode_images(batch)
      encoded = self._matcher.matcher.encode_captions(
        self._matcher.captions(likelihood.trim(captions))
      )
      given = self._matcher.score(images, encoded, owners)
    images = tf.gather(batch["image_id"], owners)
    arguments = [batch["step"][0], captions, images, given]
    rewards = tf.numpy_function(self._score_outside, arguments, tf.float32)
    return tf.stop_gradient(tf.ensure_shape(rewards, [None]))

  def _score_outside(self, step, captions, images, given) -> np.ndarray:
    """The one call out of the graph: n-gram rewards, the sum, the curves."""
    names = [image.decode() for image in images]
    total, each = self._rewards.score(captions, names, {"matcher": given})
    if self._curves is not None:
      self._curves.record(int(step), self._summary(captions, total, each))
    return total.astype(np.float32)

  def _summary(self, captions, total, each) -> dict[str, float]:
    samples = self.config.samples
    if self.config.baseline == "greedy":
      count = len(total) * samples // (samples + 1)
      baseline = total[count:].mean()
    else:
      count, baseline = len(total), total.mean()
    values = {
      "reward_sample": total[:count].mean(),
      "reward_baseline": baseline,
      "advantage": total[:count].mean() - baseline,
      **{f"reward_{name}": scores[:count].mean() for name, scores in each.items()},
      "words": (captions[:count] > 0).sum(1).mean(),
      "unfinished": (captions[:count, -1] > 0).mean(),
    }
    return {name: float(value) for name, value in values.items()}

  def _distil(self, batch, tokens: tf.Tensor, outputs) -> tf.Tensor:
    """Distillation on drawn nouns, from the teacher that reads the drawn captions."""
    teacher = self._teacher
    images = teacher.matcher.encode_images(batch)
    read = teacher.captions(tokens)
    owners = tf.repeat(tf.range(tf.shape(batch["region_mask"])[0]), self.config.samples)
    alpha = teacher.attention(images, teacher.matcher.encode_captions(read), owners)
    alpha = tf.stop_gradient(alpha)
    nouns = read["noun_mask"][:, 1 : tf.shape(tokens)[1] + 1]
    loss = distillation.loss(self.config.distill_loss, alpha, outputs["attention"][:, :, 0], nouns)
    return captioning.share(loss, distillation.words(alpha, nouns))
