"""Sizes of a reproduction: a smoke test, an evening on a laptop, or as published.

smoke   a few steps of tiny models: every row runs, none learns
small   one table in one to two hours on 2 cores: fewer units, fewer steps, three seeds
full    the published configuration, for a GPU
"""

import dataclasses
from typing import Any, TypeVar

from gcap_tf import registry
from gcap_tf.training import first_stage, optimizers, schedules
from gcap_tf.training.methods import (
  captioning,
  contrastive,
  matching,
  self_critical,
)

FineTuning = TypeVar(
  "FineTuning", self_critical.ScstTrainingConfig, contrastive.ContrastiveTrainingConfig
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scale:
  """Sizes that replace those of a published configuration.

  Attributes:
    name: "smoke", "small" or "full".
    seeds: one run each.
    matcher_steps, captioner_steps, scst_steps, contrastive_steps: training steps.
    units: size of hidden and joint layers.
    pairs: pairs of a matcher's step.
    images: pictures of a captioner's step.
    retrieved: pictures among which self retrieval searches.
    published: True changes nothing.
  """

  name: str
  seeds: tuple[int, ...]
  matcher_steps: int = 0
  captioner_steps: int = 0
  scst_steps: int = 0
  contrastive_steps: int = 0
  units: int = 0
  pairs: int = 0
  images: int = 0
  retrieved: int = 5_000
  published: bool = False


SCALES: registry.Registry[Scale] = registry.Registry("scale")
SCALES.register("smoke")(
  Scale(
    name="smoke",
    seeds=(1,),
    matcher_steps=4,
    captioner_steps=4,
    scst_steps=2,
    contrastive_steps=2,
    units=16,
    pairs=8,
    images=4,
    retrieved=4,
  )
)
SCALES.register("small")(
  Scale(
    name="small",
    seeds=(1, 2, 3),
    matcher_steps=350,
    captioner_steps=350,
    scst_steps=300,
    contrastive_steps=100,
    units=128,
    pairs=64,
    images=32,
    retrieved=500,
  )
)
SCALES.register("full")(Scale(name="full", seeds=(1, 2, 3, 4, 5), published=True))

# Models of the GVD family need more steps than others: this many times as many.
_GVD_FAMILY = {"gvd": 2, "distributed": 2, "cyclical": 3}
_ONLY_AT_THE_END = 1_000_000  # Steps between validations.


def matcher(config: matching.MatcherTrainingConfig, scale: Scale) -> matching.MatcherTrainingConfig:
  """A matcher's configuration at a scale."""
  if scale.published:
    return config
  sizes = {"joint_size": scale.units}
  if config.model == "sgraf":
    sizes["similarity_size"] = scale.units // 2
  return dataclasses.replace(
    config,
    options={**config.options, **sizes},
    min_count=2,
    batch_size=scale.pairs,
    epochs=1_000,
    max_steps=scale.matcher_steps,
    evaluate_every=_ONLY_AT_THE_END,
    # With hard negatives from the first step, a small model does not start to learn.
    losses=dataclasses.replace(config.losses, negatives="sum"),
    schedule=schedules.ScheduleConfig("cosine", 2e-3),
  )


def captioner(
  config: captioning.CaptionerTrainingConfig, scale: Scale
) -> captioning.CaptionerTrainingConfig:
  """A captioner's configuration at a scale.

  Models of the GVD family pass regions through several layers before words can choose among
  them, and learn to choose late: they take twice the steps, of half the pictures, at twice the
  rate. All branches start together. The cycle starts after the decoder has learned to name
  things, as published: Cyclical and its baselines take three times the steps, and the cycle
  the last third of them.
  """
  if scale.published:
    return config
  late = config.model in _GVD_FAMILY
  steps = scale.captioner_steps * _GVD_FAMILY.get(config.model, 1)
  waits = config.model == "cyclical" and first_stage.is_wanted(config)
  return dataclasses.replace(
    config,
    options={**config.options, **_captioner_sizes(config.model, scale.units)},
    min_count=2,
    images=(scale.images + 1) // 2 if late else scale.images,
    max_words=20,
    epochs=1_000,
    max_steps=steps,
    first_stage_epochs=0,
    first_stage_steps=steps * 2 // 3 if waits else 0,
    region_classes="option",
    evaluate_every=_ONLY_AT_THE_END,
    schedule=schedules.ScheduleConfig(
      "cosine", 6e-3 if late else 3e-3, warmup_steps=scale.captioner_steps // 7 if late else 0
    ),
    optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=5.0),
  )


def self_critical(
  config: self_critical.ScstTrainingConfig, scale: Scale
) -> self_critical.ScstTrainingConfig:
  """A self-critical configuration at a scale.

  After a short cross-entropy run, sampled captions are far worse than greedy ones. They are
  compared with each other instead, so that all of them teach, at a high rate.
  """
  if scale.published:
    return config
  sampled = dataclasses.replace(config.sampled_captions, baseline="mean_of_others")
  config = dataclasses.replace(config, sampled_captions=sampled)
  return _fine_tuned(config, scale, scale.scst_steps, 2e-3)


def contrastive(
  config: contrastive.ContrastiveTrainingConfig, scale: Scale
) -> contrastive.ContrastiveTrainingConfig:
  """A contrastive configuration at a scale.

  The rate is that of the released program: at the paper's 1e-6 a short run changes nothing. A
  step scores every caption with its own and five other pictures, by two models, so that it has
  fewer pictures and captions.
  """
  if scale.published:
    return config
  config = _fine_tuned(config, scale, scale.contrastive_steps, 4e-4)
  return dataclasses.replace(config, images=(scale.images + 1) // 2, captions_per_image=2)


def _fine_tuned(config: FineTuning, scale: Scale, steps: int, rate: float) -> FineTuning:
  return dataclasses.replace(
    config,
    images=scale.images,
    epochs=1_000,
    max_steps=steps,
    evaluate_every=_ONLY_AT_THE_END,
    schedule=schedules.ScheduleConfig("constant", rate),
  )


def _captioner_sizes(model: str, units: int) -> dict[str, Any]:
  sizes: dict[str, Any] = {"embedding_size": units, "hidden_size": units, "dropout": 0.1}
  if model in ("updown", *_GVD_FAMILY):
    sizes["attention_size"] = units
  if model in _GVD_FAMILY:
    sizes |= {"region_size": 2 * units, "location_size": max(4, units // 4)}
  return sizes
