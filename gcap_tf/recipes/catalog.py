"""All presets and tables of the five papers, by name."""

from gcap_tf import registry
from gcap_tf.recipes import ccr_ccs, contrastive, cyclical, distributed, experiments, pos_scan

CAPTIONERS: registry.Registry[experiments.Preset] = registry.Registry("captioner recipe")
MATCHERS: registry.Registry[experiments.Preset] = registry.Registry("matcher recipe")

for _paper in (pos_scan, distributed, cyclical, contrastive):
  for _preset in _paper.CAPTIONERS:
    CAPTIONERS.register(_preset.name)(_preset)
for _paper in (pos_scan, ccr_ccs):
  for _preset in _paper.MATCHERS:
    MATCHERS.register(_preset.name)(_preset)

# Name of a paper -> its table at a scale.
TABLES = {
  "pos_scan": pos_scan.table,
  "distributed": distributed.table,
  "cyclical": cyclical.table,
  "ccr_ccs": ccr_ccs.table,
  "contrastive": contrastive.table,
}
