"""Sizes of a reproduction: a smoke test, an evening, photographs, all records, or as published.

smoke         a few steps of tiny models: every row runs, none learns
small         one table of drawn scenes in one to two hours on 2 cores, three seeds
photographs   one row of photographs in 3 to 9 minutes on 2 cores, three seeds; eight hours for the
              rows of every paper's claims
perfect       one row of 30,000 records with annotated boxes in half an hour on 2 cores, one seed
videos        small models and few steps, for drawn videos, three seeds
full          the published configuration, for a GPU

A table is written with published configurations alone. `scaled` replaces what a scale replaces,
and rows remember the published configuration, so that a table can list every departure.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from gcap_tf import errors, registry
from gcap_tf.captioners import catalog as captioners
from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import experiments
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

_MODELS = (captioners.CAPTIONERS, matchers.MATCHERS)
# Models of the GVD family need more steps than others: this many times as many.
_GVD_FAMILY = {"gvd": 2.0, "distributed": 2.0, "cyclical": 3.0}
_ONLY_AT_THE_END = 1_000_000  # Steps between validations.
# Losses on attention. Their published weights work over tens of thousands of steps.
_ATTENTION_WEIGHTS = (
  *("distill_weight", "box_weight", "attention_weight", "grounding_weight"),
  "classification_weight",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scale:
  """Sizes that replace those of a published configuration.

  Attributes:
    name: for `--scale`.
    seeds: one run each.
    matcher_steps, captioner_steps, scst_steps, contrastive_steps: training steps.
    family: model -> how many times the steps of other captioners it takes.
    units: size of hidden and joint layers.
    min_count: words seen less often are unknown.
    pairs: pairs of a matcher's step.
    images: pictures of a captioner's step.
    attention_factor: multiplies the weights of losses on attention.
    retrieved: pictures among which self retrieval searches.
    published: True changes nothing.
    factor: how many times the steps of the scale these are; see `longer`.
  """

  name: str
  seeds: tuple[int, ...]
  matcher_steps: int = 0
  captioner_steps: int = 0
  scst_steps: int = 0
  contrastive_steps: int = 0
  family: Mapping[str, float] = dataclasses.field(default_factory=_GVD_FAMILY.copy)
  units: int = 0
  min_count: int = 2
  pairs: int = 0
  images: int = 0
  attention_factor: float = 10.0
  retrieved: int = 5_000
  published: bool = False
  factor: float = 1.0

  def longer(self, factor: float) -> "Scale":
    """The scale with `factor` times the steps: does a claim hold after more of them?"""
    if factor == 1:
      return self
    if self.published:
      raise errors.UserError(f"--longer={factor:g} changes no steps at --scale={self.name}")
    names = ("matcher_steps", "captioner_steps", "scst_steps", "contrastive_steps")
    steps = {name: max(1, round(factor * getattr(self, name))) for name in names}
    return dataclasses.replace(self, **steps, factor=factor)

  @property
  def label(self) -> str:
    """The scale in words, for a table."""
    return self.name if self.factor == 1 else f"{self.name}, {self.factor:g} times its steps"

  @property
  def flags(self) -> dict[str, str]:
    """The flags of `trainers.reproduce` that name the scale."""
    return {"scale": self.name} | ({"longer": f"{self.factor:g}"} if self.factor != 1 else {})


SCALES: registry.Registry[Scale] = registry.Registry("scale")
SCALES.register("smoke")(
  Scale(
    name="smoke",
    seeds=(1,),
    **dict(matcher_steps=4, captioner_steps=4, scst_steps=2, contrastive_steps=2),
    **dict(units=16, pairs=8, images=4, retrieved=4),
  )
)
SCALES.register("small")(
  Scale(
    name="small",
    seeds=(1, 2, 3),
    **dict(matcher_steps=350, captioner_steps=350, scst_steps=300, contrastive_steps=100),
    **dict(units=128, pairs=64, images=32, retrieved=500),
  )
)
SCALES.register("photographs")(
  Scale(
    name="photographs",
    seeds=(1, 2, 3),
    **dict(matcher_steps=1_200, captioner_steps=800, scst_steps=300, contrastive_steps=120),
    family={"gvd": 1.5, "distributed": 0.9, "cyclical": 1.5},
    **dict(units=192, min_count=5, pairs=64, images=32, retrieved=247),
  )
)
SCALES.register("perfect")(
  Scale(
    name="perfect",
    seeds=(1,),
    **dict(matcher_steps=3_000, captioner_steps=2_000, scst_steps=1_000, contrastive_steps=400),
    family={"gvd": 1.5, "distributed": 1.0, "cyclical": 1.5},
    **dict(units=256, min_count=5, pairs=64, images=32, retrieved=1_000),
  )
)
SCALES.register("videos")(
  Scale(
    name="videos",
    seeds=(1, 2, 3),
    **dict(matcher_steps=200, captioner_steps=200, scst_steps=100, contrastive_steps=50),
    family={"gvd": 1.5, "distributed": 1.5, "cyclical": 2.0},
    **dict(units=64, pairs=32, images=32, retrieved=100),
  )
)
SCALES.register("full")(Scale(name="full", seeds=(1, 2, 3, 4, 5), published=True))


def scaled(table: experiments.Table, scale: Scale) -> experiments.Table:
  """The table with the configurations of a scale in its rows."""
  rows = []
  for row in table.rows:
    training = apply(row.training, scale)
    published = _with_defaults(row.training, training)
    rows.append(dataclasses.replace(row, training=training, published=published))
  return dataclasses.replace(table, rows=tuple(rows))


def _with_defaults(published: Any, used: Any) -> Any:
  """The published configuration with the model's defaults of the options that `used` sets."""
  if not hasattr(published, "options"):
    return published
  known = next(found for found in _MODELS if published.model in found.names())
  fields = {field.name: field for field in dataclasses.fields(known.get(published.model).Config)}
  defaults = {name: fields[name].default for name in used.options if name in fields}
  return dataclasses.replace(published, options={**defaults, **published.options})


def apply(training: Any, scale: Scale) -> Any:
  """A published configuration at a scale."""
  change = _CHANGES.get(type(training))
  return training if scale.published or change is None else change(training, scale)


def matcher(config: matching.MatcherTrainingConfig, scale: Scale) -> matching.MatcherTrainingConfig:
  """A matcher's configuration at a scale."""
  sizes = {"joint_size": scale.units}
  if config.model == "sgraf":
    sizes["similarity_size"] = scale.units // 2
  return dataclasses.replace(
    config,
    options={**config.options, **sizes},
    min_count=scale.min_count,
    vocabulary_splits="train",
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
  them, and learn to choose late: they take more steps, of half the pictures, at twice the
  rate. All branches start together. The cycle starts after the decoder has learned to name
  things, as published: Cyclical and its baselines take most steps, and the cycle the last third
  of them. The weights of losses on attention are larger, since steps are few.
  """
  late = config.model in scale.family
  steps = round(scale.captioner_steps * scale.family.get(config.model, 1.0))
  waits = config.model == "cyclical" and first_stage.is_wanted(config)
  return dataclasses.replace(
    config,
    options={**_own_parts(config.options), **_captioner_sizes(config.model, scale)},
    min_count=scale.min_count,
    vocabulary_splits="train",
    images=(scale.images + 1) // 2 if late else scale.images,
    max_words=20,
    epochs=1_000,
    max_steps=steps,
    first_stage_epochs=0,
    first_stage_steps=steps * 2 // 3 if waits else 0,
    evaluate_every=_ONLY_AT_THE_END,
    losses=_stronger(config.losses, scale.attention_factor),
    schedule=schedules.ScheduleConfig(
      "cosine", 6e-3 if late else 3e-3, warmup_steps=scale.captioner_steps // 7 if late else 0
    ),
    optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=5.0),
  )


def _stronger(losses: Any, factor: float) -> Any:
  """The losses with larger weights of those on attention; scheduled sampling is off.

  Scheduled sampling begins in the sixth epoch, which a short run does not reach.
  """
  changes = {name: round(getattr(losses, name) * factor, 6) for name in _ATTENTION_WEIGHTS}
  if losses.box_supervision == "none":
    del changes["box_weight"]
  sampling = dataclasses.replace(losses.scheduled_sampling, start=-1)
  return dataclasses.replace(losses, scheduled_sampling=sampling, **changes)


def scst(
  config: self_critical.ScstTrainingConfig, scale: Scale
) -> self_critical.ScstTrainingConfig:
  """A self-critical configuration at a scale.

  After a short cross-entropy run, sampled captions are far worse than greedy ones. They are
  compared with each other instead, so that all of them teach, at a high rate.
  """
  sampled = dataclasses.replace(config.sampled_captions, baseline="mean_of_others")
  config = dataclasses.replace(config, sampled_captions=sampled, nouns="table")
  return _fine_tuned(config, scale, scale.scst_steps, 2e-3)


def contrasted(
  config: contrastive.ContrastiveTrainingConfig, scale: Scale
) -> contrastive.ContrastiveTrainingConfig:
  """A contrastive configuration at a scale.

  The rate is that of the released program: at the paper's 1e-6 a short run changes nothing. A
  step scores every caption with its own and five other pictures, by two models, so that it has
  fewer pictures and captions.
  """
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


def _own_parts(options: Mapping[str, Any]) -> dict[str, Any]:
  """Options without the sizes of published frame features: small data has others."""
  return {name: value for name, value in options.items() if name != "frame_parts"}


def _captioner_sizes(model: str, scale: Scale) -> dict[str, Any]:
  units = scale.units
  sizes: dict[str, Any] = {"embedding_size": units, "hidden_size": units, "dropout": 0.1}
  if model in ("updown", *scale.family):
    sizes["attention_size"] = units
  if model in scale.family:
    sizes |= {"region_size": 2 * units, "location_size": max(4, units // 4)}
  return sizes


_CHANGES = {
  matching.MatcherTrainingConfig: matcher,
  captioning.CaptionerTrainingConfig: captioner,
  self_critical.ScstTrainingConfig: scst,
  contrastive.ContrastiveTrainingConfig: contrasted,
}
