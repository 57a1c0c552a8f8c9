"""The options of captioning's losses: weights, kinds, scheduled sampling."""

import dataclasses
from typing import Any, Literal

from gcap_tf import config as configs
from gcap_tf.losses import distillation


@dataclasses.dataclass(frozen=True)
class ScheduledSampling:
  """Scheduled sampling: the chance grows by `increase` every `every` epochs after `start`.

  Attributes:
    start: epoch from which epochs are counted; -1 never samples.
    every: epochs between two increases.
    increase: growth of the chance at each increase.
    most: upper limit of the chance.
  """

  start: configs.CountOrNone = -1
  every: configs.PositiveInt = 5
  increase: configs.Fraction = 0.05
  most: configs.Fraction = 0.25

  def chance(self, epoch: int) -> float:
    """The chance in a 0-based epoch."""
    if self.start < 0 or epoch <= self.start:
      return 0.0
    return min(self.increase * ((epoch - self.start) // self.every), self.most)


@dataclasses.dataclass(frozen=True)
class CaptioningLosses:
  """Weights and kinds of the losses; a loss of weight 0 is not computed.

  Attributes:
    cross_entropy_weight: Cyclical's λ1 (0.5, for its baseline too); 1 otherwise.
    label_smoothing: ε.
    branch_reduction: how the losses of K branches are combined.
    scheduled_sampling: feeds the model words of its own.
    distill_weight: POS-SCAN's λ1, the weight of distillation.
    distill_loss: direction of distillation; "kl" is KL(α || β).
    distill_area: power of a region's area that weights the teacher's attention; not in the paper.
    distill_labels: words that name a label of the detector attend by this power of its probability
      instead (`training/label_teacher.py`); 0 leaves all to the teacher; not in the paper.
    box_supervision: how annotated boxes supervise the attention.
    box_weight: weight of box supervision.
    reconstruction_weight: Cyclical's λ2.
    reconstruction_words: "nouns" reconstructs nouns only ("zero loss").
    localized_words: "nouns" lets only nouns point at regions ("zero representation").
    consistency_weight: weight of the attention-consistency variant.
    attention_weight: GVD's weight of supervised attention; 0.1 on Flickr30k.
    grounding_weight: GVD's weight of supervised grounding; 0.1 on Flickr30k.
    classification_weight: GVD's weight of region classification; 0.1 on Flickr30k.
    regularizers: weight of any other registered regulariser, by its name.
    regularizer_options: options of such a regulariser, by its name.
  """

  cross_entropy_weight: configs.Weight = 1.0
  label_smoothing: configs.Fraction = 0.0
  branch_reduction: Literal["mean", "sum"] = "mean"
  scheduled_sampling: ScheduledSampling = dataclasses.field(default_factory=ScheduledSampling)
  distill_weight: configs.Weight = 0.0
  distill_loss: distillation.Kind = "kl"
  distill_area: configs.Weight = 0.0
  distill_labels: configs.Weight = 0.0
  box_supervision: Literal["none", "nll", "kl", "extend_nll"] = "none"
  box_weight: configs.Weight = 0.1
  reconstruction_weight: configs.Weight = 0.0
  reconstruction_words: Literal["all", "nouns"] = "all"
  localized_words: Literal["all", "nouns"] = "all"
  consistency_weight: configs.Weight = 0.0
  attention_weight: configs.Weight = 0.0
  grounding_weight: configs.Weight = 0.0
  classification_weight: configs.Weight = 0.0
  regularizers: dict[str, configs.Weight] = dataclasses.field(default_factory=dict)
  regularizer_options: dict[str, Any] = dataclasses.field(default_factory=dict)
