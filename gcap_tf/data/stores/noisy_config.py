"""Options of the noisy simulated detector, and four levels of difficulty."""

import dataclasses

from gcap_tf import config as configs
from gcap_tf import errors


@dataclasses.dataclass(frozen=True)
class NoisyConfig:
  """How many regions, and how misleading they are.

  Attributes:
    regions: proposals a picture (N).
    feature_size: D.
    seed: of the jitter and the noise; prototypes do not depend on it.
    min_good: proposals with IoU > 0.5 that every object gets, while N allows; if there
      are more objects than proposals, the largest get one each.
    partial, enlarged, background: shares of these kinds among the remaining proposals;
      the rest are good ones.
    focus: w, share of an object's class signal that comes from its most typical spot.
    focus_boost: how much stronger the spot alone can be; each object draws its
      boost from 0 to twice this.
    purity_power: g.
    coverage_power: b.
    attribute_weight: a.
    part_weight: p.
    similarity: cosine of the prototypes of related classes.
    confusion: strength of a wrong class of the same picture in a region's feature.
    signal_noise: relative deviation of each object's signal in each region.
    geometry_weight: strength of the box's place and size in the feature.
    noise: norm of the Gaussian noise; a clean class signal has norm 1.
    rms: root mean square of a feature entry for a vector of norm 1.
  """

  regions: configs.PositiveInt = 36
  feature_size: configs.PositiveInt = 256
  seed: configs.Seed = 1
  min_good: configs.Count = 1
  partial: configs.Fraction = 0.4
  enlarged: configs.Fraction = 0.15
  background: configs.Fraction = 0.2
  focus: configs.Fraction = 0.5
  focus_boost: configs.Weight = 0.7
  purity_power: configs.Weight = 0.5
  coverage_power: configs.Weight = 0.5
  attribute_weight: configs.Weight = 0.35
  part_weight: configs.Weight = 0.6
  similarity: configs.Fraction = 0.35
  confusion: configs.Weight = 0.25
  signal_noise: configs.Weight = 0.12
  geometry_weight: configs.Weight = 0.2
  noise: configs.Weight = 0.6
  rms: configs.Positive = 0.5

  def __post_init__(self):
    shares = self.partial + self.enlarged + self.background
    if shares > 1 + 1e-9:  # Sums of floats round.
      raise errors.UserError(
        f"noisy detector: partial + enlarged + background is {shares:g}; expected 1 or less"
      )


LEVELS: dict[str, NoisyConfig] = {
  "clean": NoisyConfig(focus_boost=0.0, confusion=0.0, signal_noise=0.02, noise=0.1),
  "mild": NoisyConfig(focus_boost=0.3, confusion=0.15, signal_noise=0.06, noise=0.3),
  "default": NoisyConfig(),
  "hard": NoisyConfig(focus_boost=1.2, confusion=0.5, signal_noise=0.25, noise=1.2),
}
