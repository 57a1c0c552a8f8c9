"""Published captioner runs: one preset a model, data set and printed row.

    python -m trainers.train_captioner --recipe=updown_f30k --data=data/f30k --run=runs/updown
    python -m trainers.train_captioner --recipe=updown_distill_f30k --teacher=runs/pos_scan ...

`f30k` is Flickr30k Entities (29,000 training pictures), `coco` is MS-COCO (113,287). Up-Down
reads 36 regions of 2048 features, GVD and its kin 100. Expected figures are what the authors
printed, on the scales of `evaluate_captioner`: captions as papers print them, grounding
as fractions of 1.

Departures of all GVD kin: region encoders start fresh, not from a detector's weights, and no
convolution map is attended to unless the data brings one as a grid.
"""

import dataclasses
from typing import Any, Literal

from gcap_tf import registry
from gcap_tf.training import loss_options, optimizers, schedules
from gcap_tf.training.methods import captioning


@dataclasses.dataclass(frozen=True)
class CaptionerRecipe:
  """How to train one captioner.

  Attributes:
    training: the whole configuration.
    data: "f30k" or "coco".
    expected: printed figures; empty where none were printed for this stage alone.
    split: the split that they were printed for.
    source: where.
    needs_teacher: whether the run folder of a matcher must be named.
  """

  training: captioning.CaptionerTrainingConfig
  data: str
  expected: dict[str, float] = dataclasses.field(default_factory=dict)
  split: Literal["val", "test"] = "test"
  source: str = ""
  needs_teacher: bool = False


RECIPES: registry.Registry[CaptionerRecipe] = registry.Registry("captioner recipe")

_POS_SCAN = "Zhou et al., CVPR 2020"
_GVD = "Zhou et al., CVPR 2019"
_DISTRIBUTED = "Chen et al., 2021, arXiv:2108.01056"
_CYCLICAL = "Ma et al., ECCV 2020"


def scores(captions: str = "", f1_all: float = 0.0, f1_loc: float = 0.0) -> dict[str, float]:
  """A table's row: BLEU-1, BLEU-4, METEOR, CIDEr, SPICE in its order; F1 in percent."""
  keys = ("bleu_1", "bleu_4", "meteor", "cider", "spice")
  figures = dict(zip(keys, map(float, captions.split()), strict=True)) if captions else {}
  if f1_all:
    figures |= {"f1_all": round(f1_all / 100, 6), "f1_loc": round(f1_loc / 100, 6)}
  return figures


def _add(
  name: str,
  training: captioning.CaptionerTrainingConfig,
  expected: dict[str, float] | None = None,
  source: str = "",
  split: Literal["val", "test"] = "test",
  needs_teacher: bool = False,
) -> None:
  data = name.rpartition("_")[2]
  recipe = CaptionerRecipe(training, data, expected or {}, split, source, needs_teacher)
  RECIPES.register(name)(recipe)


def _with_losses(
  training: captioning.CaptionerTrainingConfig, **losses: Any
) -> captioning.CaptionerTrainingConfig:
  return dataclasses.replace(training, losses=dataclasses.replace(training.losses, **losses))


# Up-Down as POS-SCAN's authors train it: cross entropy, scheduled sampling from epoch 5 on.
_UPDOWN = _with_losses(
  captioning.for_model("updown"), scheduled_sampling=loss_options.ScheduledSampling(start=0)
)
_UPDOWN_COCO = dataclasses.replace(_UPDOWN, images=32, options={"hidden_size": 1024})
_add("updown_f30k", _UPDOWN, {"attention_accuracy": 0.1983}, _POS_SCAN, "val")
_add("updown_coco", _UPDOWN_COCO, scores("76.2 36.4 27.7 113.1 20.5"), _POS_SCAN)
_add(
  "updown_large_coco",
  dataclasses.replace(
    _UPDOWN, images=10, options={"embedding_size": 1000, "hidden_size": 1000}
  ),
)  # fmt: skip
_add(
  "updown_distill_f30k",
  _with_losses(_UPDOWN, distill_weight=0.1),
  {**scores(f1_all=6.47, f1_loc=17.96), "cider": 58.0, "attention_accuracy": 0.2939},
  _POS_SCAN,
  "val",
  needs_teacher=True,
)
_add(
  "updown_distill_gvd_f30k", _with_losses(_UPDOWN, distill_weight=0.2), needs_teacher=True
)  # fmt: skip
_add(
  "updown_distill_coco",
  _with_losses(_UPDOWN_COCO, distill_weight=1.0),
  scores("76.6 36.5 27.9 114.9 20.8"),
  _POS_SCAN,
  needs_teacher=True,
)
_add(
  "updown_boxes_f30k",
  _with_losses(_UPDOWN, box_supervision="nll", box_weight=0.1),
  {"attention_accuracy": 0.3717},
  _POS_SCAN,
  "val",
)
for _kind in ("kl", "extend_nll"):
  _add(f"updown_boxes_{_kind}_f30k", _with_losses(_UPDOWN, box_supervision=_kind, box_weight=0.1))

# GVD: the map of region features and the class rows learn at a tenth of the rate.
_SLOW = ("refine_region/kernel", "refine_region/bias", "classes/kernel")
_GVD_TRAINING = dataclasses.replace(
  captioning.for_model("gvd"),
  region_classes="objects",
  images=240,
  epochs=40,
  schedule=schedules.ScheduleConfig("step_decay", 5e-4, factor=0.8, every=3, after=1),
  optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=0.1, slow=_SLOW),
)
_add("gvd_f30k", _GVD_TRAINING, scores("69.2 26.9 22.1 60.1 16.1", 3.88, 11.7), _GVD)
_add(
  "gvd_supervised_f30k",
  _with_losses(
    dataclasses.replace(_GVD_TRAINING, options={"interaction_layers": 2}),
    attention_weight=0.1,
    grounding_weight=0.1,
    classification_weight=0.1,
  ),
  scores("69.9 27.3 22.5 62.3 16.5", 7.55, 22.2),
  _GVD,
)

# Distributed: GVD with K branches, the first 20 of 40 epochs with one.
DISTRIBUTED_TRAINING = dataclasses.replace(
  _GVD_TRAINING,
  model="distributed",
  images=64,
  first_stage_epochs=20,
  schedule=schedules.ScheduleConfig("step_decay", 5e-4, factor=0.8, every=3),
)
_K = {
  2: ("68.8 26.5 22.4 60.9 16.6", 5.2, 15.90),
  3: ("69.3 27.0 22.4 61.6 16.7", 6.78, 20.10),
  4: ("69.2 27.2 22.5 62.5 16.5", 7.91, 21.54),
  5: ("68.9 26.6 22.4 62.4 16.7", 7.62, 20.45),
}
_WITHOUT_ELIMINATION = {2: (5.48, 15.80), 3: (5.48, 16.14), 4: (6.82, 18.91), 5: (6.27, 17.36)}
_add(
  "distributed_k1_f30k",
  dataclasses.replace(DISTRIBUTED_TRAINING, options={"branches": 1}, first_stage_epochs=0),
)
for _branches, _row in _K.items():
  _options: dict[str, Any] = {"branches": _branches}
  _training = dataclasses.replace(DISTRIBUTED_TRAINING, options=_options)
  _add(f"distributed_k{_branches}_f30k", _training, scores(*_row), _DISTRIBUTED)
  _add(
    f"distributed_k{_branches}_no_elimination_f30k",
    dataclasses.replace(_training, options={**_options, "elimination": False}),
    scores("", *_WITHOUT_ELIMINATION[_branches]),
    _DISTRIBUTED,
  )
_add(
  "distributed_multi_head_f30k",
  dataclasses.replace(
    DISTRIBUTED_TRAINING, options={"branches": 1, "heads": 4}, first_stage_epochs=0
  ),
  scores("", 4.75, 13.19),
  _DISTRIBUTED,
)  # fmt: skip

# Cyclical: the decoder alone for 35 epochs, then the cycle until epoch 80. Its baseline's
# loss has the weight 0.5 too, which matters to the clipping.
CYCLE = dataclasses.replace(
  captioning.for_model("cyclical"),
  region_classes="objects",
  images=32,
  epochs=80,
  first_stage_epochs=35,
  first_stage_weights="best",
  schedule=schedules.ScheduleConfig("plateau", 1e-4, factor=0.1, every=10, least=5e-6),
  optimizer=optimizers.OptimizerConfig(clip="norm", clip_at=0.1, slow=_SLOW),
)
_add(
  "cyclical_baseline_f30k",
  _with_losses(
    dataclasses.replace(CYCLE, options={"localizer": "none"}, first_stage_epochs=0),
    reconstruction_weight=0.0,
  ),
  scores("69.1 26.0 22.1 59.6 16.3", 4.08, 11.83),
  _CYCLICAL,
)
_add(
  "cyclical_f30k",
  _with_losses(CYCLE, cross_entropy_weight=0.6, reconstruction_weight=0.4),
  scores("69.9 27.4 22.3 61.4 16.6", 4.98, 13.53),
  _CYCLICAL,
)
_add(
  "cyclical_zero_loss_f30k",
  _with_losses(CYCLE, reconstruction_words="nouns"),
  scores("69.7 27.0 22.2 60.1 16.5", 5.14, 14.32),
  _CYCLICAL,
)
_add(
  "cyclical_zero_representation_f30k",
  _with_losses(CYCLE, localized_words="nouns"),
  scores("69.9 27.5 22.4 62.0 16.6", 5.13, 13.99),
  _CYCLICAL,
)
_add(
  "cyclical_mlp_f30k",
  dataclasses.replace(CYCLE, options={"localizer": "mlp"}),
  scores("69.2 26.4 22.0 58.7 16.2", 4.40, 12.77),
  _CYCLICAL,
)
_add("cyclical_hidden_f30k", dataclasses.replace(CYCLE, options={"localizer": "hidden"}))
# The paper does not print the weight of the attention's consistency.
_add(
  "cyclical_consistency_f30k",
  _with_losses(CYCLE, reconstruction_weight=0.0, consistency_weight=0.5),
)
_add(
  "cyclical_supervised_f30k",
  _with_losses(
    dataclasses.replace(CYCLE, options={"localizer": "none"}, first_stage_epochs=0),
    reconstruction_weight=0.0,
    attention_weight=0.1,
    classification_weight=0.1,
  ),
  scores("69.0 26.8 22.4 61.1 16.8", 8.44, 22.78),
  _CYCLICAL,
)
# Regions are the annotated boxes, known by their labels: prepare_data --regions=perfect.
_add("cyclical_perfect_f30k", dataclasses.replace(CYCLE, region_labels="yes"))

# What contrastive learning starts from: maximum likelihood, without the CNN's own training.
_add(
  "adaptive_coco", dataclasses.replace(captioning.for_model("adaptive"), epochs=20)
)  # fmt: skip
_add(
  "neuraltalk2_coco", dataclasses.replace(captioning.for_model("neuraltalk2"), images=16)
)  # fmt: skip
