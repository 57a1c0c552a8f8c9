"""How big a reproduction is: to see that it runs, for an evening on a laptop, or as published.

smoke   a few steps of tiny models: every row runs, none learns
small   one table within about an hour on 2 cores: fewer units, fewer steps, three seeds
full    the published configuration; for a GPU
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


@dataclasses.dataclass(frozen=True)
class Scale:
  """What is cut from a published configuration.

  Attributes:
    name: "smoke", "small" or "full".
    seeds: one run each.
    matcher_steps, captioner_steps, scst_steps, contrastive_steps: of training.
    units: of hidden and joint layers.
    pairs: of a matcher's step.
    images: of a captioner's step.
    retrieved: pictures among which self retrieval looks.
    published: nothing is cut.
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
SCALES.register("smoke")(Scale("smoke", (1,), 4, 4, 2, 2, units=16, pairs=8, images=4, retrieved=4))
SCALES.register("small")(
  Scale("small", (1, 2, 3), 350, 350, 300, 100, units=128, pairs=64, images=32, retrieved=500)
)
SCALES.register("full")(Scale("full", (1, 2, 3, 4, 5), published=True))

_GVD_KIN = {"gvd": 2, "distributed": 2, "cyclical": 3}  # Times the steps of others.
_RARELY = 1_000_000  # Validation at the end alone.


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
    evaluate_every=_RARELY,
    # Hard negatives of the first steps leave a small model where it started.
    losses=dataclasses.replace(config.losses, negatives="sum"),
    schedule=schedules.ScheduleConfig("cosine", 2e-3),
  )


def captioner(
  config: captioning.CaptionerTrainingConfig, scale: Scale
) -> captioning.CaptionerTrainingConfig:
  """A captioner's configuration at a scale.

  GVD and its kin pass regions through several layers before words can choose among them, and
  begin to choose late: they take twice the steps, of half the pictures, at twice the rate.
  Branches may begin together. The cycle waits, as published, until the decoder names things:
  Cyclical and its baselines have as many steps again by half, the last third for the cycle.
  """
  if scale.published:
    return config
  late = config.model in _GVD_KIN
  steps = scale.captioner_steps * _GVD_KIN.get(config.model, 1)
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
    evaluate_every=_RARELY,
    schedule=schedules.ScheduleConfig(
      "cosine", 6e-3 if late else 3e-3, warmup_steps=scale.captioner_steps // 7 if late else 0
    ),
    optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=5.0),
  )


def self_critical(
  config: self_critical.ScstTrainingConfig, scale: Scale
) -> self_critical.ScstTrainingConfig:
  """A self-critical configuration at a scale.

  A short cross-entropy run leaves a policy whose draws are far worse than its greedy captions:
  compared with each other rather than with those, all of them teach, and at a high rate.
  """
  if scale.published:
    return config
  sampled_captions = dataclasses.replace(config.sampled_captions, baseline="mean_of_others")
  config = dataclasses.replace(config, sampled_captions=sampled_captions)
  return _fine_tuned(config, scale, scale.scst_steps, 2e-3)


def contrastive(
  config: contrastive.ContrastiveTrainingConfig, scale: Scale
) -> contrastive.ContrastiveTrainingConfig:
  """A contrastive configuration at a scale.

  The rate is the released program's: at the paper's 1e-6 a short run does not move. A step
  scores every caption with its own and five other pictures, by two models: fewer of each.
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
    evaluate_every=_RARELY,
    schedule=schedules.ScheduleConfig("constant", rate),
  )


def _captioner_sizes(model: str, units: int) -> dict[str, Any]:
  sizes: dict[str, Any] = {"embedding_size": units, "hidden_size": units, "dropout": 0.1}
  if model in ("updown", *_GVD_KIN):
    sizes["attention_size"] = units
  if model in _GVD_KIN:
    sizes |= {"region_size": 2 * units, "location_size": max(4, units // 4)}
  return sizes
