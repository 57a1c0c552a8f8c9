"""All presets and tables of the five papers, by name."""

import dataclasses

from gcap_tf import errors, registry
from gcap_tf.recipes import (
  ccr_ccs,
  contrastive,
  cyclical,
  distributed,
  experiments,
  pos_scan,
  scales,
  videos,
)
from gcap_tf.training import loss_options
from gcap_tf.training.methods import captioning

CAPTIONERS: registry.Registry[experiments.Preset] = registry.Registry("captioner recipe")
MATCHERS: registry.Registry[experiments.Preset] = registry.Registry("matcher recipe")
FINE_TUNING: registry.Registry[experiments.Preset] = registry.Registry("fine-tuning recipe")

for _paper in (pos_scan, distributed, cyclical, contrastive, videos):
  for _preset in _paper.CAPTIONERS:
    CAPTIONERS.register(_preset.name)(_preset)
for _paper in (pos_scan, ccr_ccs):
  for _preset in _paper.MATCHERS:
    MATCHERS.register(_preset.name)(_preset)
for _paper in (pos_scan, contrastive):
  for _preset in _paper.FINE_TUNING:
    FINE_TUNING.register(_preset.name)(_preset)

# Name of a paper -> its table, with published configurations.
TABLES = {
  "pos_scan": pos_scan.table,
  "distributed": distributed.table,
  "cyclical": cyclical.table,
  "ccr_ccs": ccr_ccs.table,
  "contrastive": contrastive.table,
}
# The same for data of videos.
VIDEO_TABLES = {"distributed": videos.distributed_table, "cyclical": videos.cyclical_table}
_MODELS = {
  # Without scheduled sampling, which slows every step down.
  "updown": dataclasses.replace(pos_scan.UPDOWN, losses=loss_options.CaptioningLosses()),
  "gvd": distributed.GVD,
  "distributed": distributed.BRANCHES,
  "cyclical": cyclical.CYCLE,
  "adaptive": contrastive.ADAPTIVE,
  "neuraltalk2": contrastive.NEURALTALK2,
}


def table(paper: str, scale: scales.Scale, of_videos: bool = False) -> experiments.Table:
  """The table of a paper at a scale, for pictures or for videos."""
  if not of_videos:
    return scales.scaled(TABLES[paper](), scale)
  if paper not in VIDEO_TABLES:
    raise errors.UserError(
      f"--paper={paper} has no rows on videos; {' and '.join(VIDEO_TABLES)} have"
    )
  return scales.scaled(VIDEO_TABLES[paper](), scale)


def for_model(model: str) -> captioning.CaptionerTrainingConfig:
  """The published settings of a captioner, from its paper's recipe; Up-Down's for any other.

  Departures: words are counted on the train split alone, and Up-Down has no scheduled sampling;
  presets (`--recipe=updown_f30k`) have both as published.
  """
  published = _MODELS.get(model) or captioning.CaptionerTrainingConfig(model=model)
  return dataclasses.replace(published, vocabulary_splits="train")
