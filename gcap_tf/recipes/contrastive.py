"""Contrastive Learning for Image Captioning.

Dai and Lin, NIPS 2017, arXiv:1710.02534. AdaptiveAttention and Neuraltalk2 by maximum likelihood
(MLE), then by contrastive learning (CL) with both constraints, the positive one CL(P) or the
negative one CL(N), from a reference of the same or of another model; again, with the first
result as the reference; and by introspective learning (IL).

    python -m trainers.prepare_data --dataset=coco --source=coco --regions=STORE --holdout=2000 \\
      --out=data/coco
    python -m trainers.train_captioner --recipe=adaptive_coco --data=data/coco --run=runs/adaptive
    python -m trainers.finetune_contrastive --start=runs/adaptive --data=data/coco --run=runs/cl
    python -m trainers.reproduce --paper=contrastive --data=data/coco --out=results/contrastive

Table 4 also compares a GAN (Dai et al., ICCV 2017). It is not here: its evaluator is a third
network, trained by another paper's method, and this paper says nothing of its settings.
"""

import dataclasses
from typing import Any

from gcap_tf.recipes import experiments, settings
from gcap_tf.training import schedules
from gcap_tf.training.methods import captioning, contrastive

_SOURCE = "Dai and Lin, NIPS 2017"


def _scores(*figures: float) -> experiments.Printed:
  """BLEU 1 to 4, METEOR, ROUGE-L and CIDEr."""
  keys = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider")
  return dict(zip(keys, figures, strict=True))


# MS-COCO, 2,000 validation pictures: Tables 4, 5 and 6.
_VAL = {
  "adaptive": _scores(73.3, 57.2, 43.3, 32.7, 26.0, 54.0, 104.2),
  "adaptive_il": _scores(70.6, 54.4, 40.8, 30.7, 25.3, 53.0, 100.4),
  "adaptive_positive": _scores(73.5, 57.3, 43.7, 33.4, 26.2, 54.5, 105.9),
  "adaptive_negative": _scores(53.9, 41.1, 29.9, 21.2, 24.6, 47.9, 60.3),
  "adaptive_cl": _scores(75.5, 59.8, 46.0, 35.3, 27.1, 55.9, 114.2),
  "adaptive_cl_2": _scores(75.6, 59.8, 46.0, 35.3, 27.2, 55.9, 114.2),
  "neuraltalk2": _scores(69.7, 52.5, 38.9, 29.1, 23.8, 51.6, 88.2),
  "neuraltalk2_cl": _scores(70.8, 53.6, 39.9, 30.0, 24.2, 52.4, 90.5),
  "neuraltalk2_adaptive": _scores(71.6, 54.7, 41.1, 31.1, 24.9, 53.3, 95.6),
}
# MS-COCO, 5,000 test pictures: self retrieval of Table 1. The captions were scored by the test
# server (40 references), which nothing here can be compared with.
_TEST = {
  "neuraltalk2": (0.02, 0.32, 3.02, 27.50),
  "adaptive": (0.10, 0.96, 11.76, 78.46),
  "adaptive_cl": (0.32, 1.18, 11.84, 80.96),
}
# InstaPIC-1.1M, 5,000 test pictures: Table 3.
_INSTAPIC = {
  "adaptive": _scores(6.5, 2.6, 1.1, 0.5, 2.9, 9.3, 12.6),
  "adaptive_cl": _scores(7.2, 2.8, 1.3, 0.6, 3.2, 10.1, 14.4),
}
_RANKS = (1, 5, 50, 500)

# The captioners that contrastive learning starts from. The CNN is not trained. Captions of both
# are cut to 18 words; words seen less than 5 times are UNK.
ADAPTIVE = captioning.CaptionerTrainingConfig(
  model="adaptive",
  images=20,
  epochs=20,
  max_words=18,
  min_count=5,
  vocabulary_splits="all",
  schedule=schedules.ScheduleConfig("constant", 4e-4),
  optimizer=dataclasses.replace(captioning.CLIP_VALUE, beta_1=0.8),
)
NEURALTALK2 = dataclasses.replace(ADAPTIVE, model="neuraltalk2", images=16, epochs=30)
# One caption a picture.
_INSTAPIC_ADAPTIVE = dataclasses.replace(ADAPTIVE, captions_per_image=1)
# The reference stays until the target saturates: three validations without a better CIDEr.
_CONTRASTED = contrastive.ContrastiveTrainingConfig(early_stop=3)


def _preset(name: str, training: Any, printed: experiments.Printed, split: str = "val") -> Any:
  return experiments.Preset(
    name=name, training=training, printed=printed, split=split, source=_SOURCE
  )


CAPTIONERS = (
  _preset("adaptive_coco", ADAPTIVE, _VAL["adaptive"]),
  _preset("neuraltalk2_coco", NEURALTALK2, _VAL["neuraltalk2"]),
  _preset("adaptive_instapic", _INSTAPIC_ADAPTIVE, _INSTAPIC["adaptive"], "test"),
)
FINE_TUNING = (
  _preset("contrastive_coco", _CONTRASTED, _VAL["adaptive_cl"]),
  _preset(
    "contrastive_instapic",
    dataclasses.replace(_CONTRASTED, captions_per_image=1),
    _INSTAPIC["adaptive_cl"],
    "test",
  ),
)


def _row(name: str, label: str, training: Any, note: str = "") -> experiments.Row:
  printed = {settings.COCO_VAL: _VAL[name]}
  if name in _TEST:
    found = zip(_RANKS, _TEST[name], strict=True)
    printed[settings.COCO_TEST] = {f"self_retrieval_{rank}": value for rank, value in found}
  if name in _INSTAPIC:
    printed[settings.INSTAPIC_TEST] = _INSTAPIC[name]
  return experiments.Row(name=name, label=label, training=training, printed=printed, note=note)


def _contrasted(
  name: str, label: str, start: str, reference: str = "", terms: str = "both", note: str = ""
) -> experiments.Row:
  training = dataclasses.replace(
    _CONTRASTED,
    start=experiments.REFERENCE + start,
    reference=experiments.REFERENCE + (reference or start),
    contrast=contrastive.Contrast(terms=terms),
  )
  return _row(name, label, training, note)


def table() -> experiments.Table:
  """Tables 4, 5 and 6, with self retrieval as in Table 1; val split."""
  same, other = "reference Neuraltalk2", "reference AdaptiveAttention"
  rows = (
    _row("adaptive", "AdaptiveAttention, MLE", ADAPTIVE),
    _contrasted("adaptive_il", "AdaptiveAttention + IL", "adaptive", terms="introspective"),
    _contrasted("adaptive_positive", "AdaptiveAttention + CL(P)", "adaptive", terms="positive"),
    _contrasted("adaptive_negative", "AdaptiveAttention + CL(N)", "adaptive", terms="negative"),
    _contrasted("adaptive_cl", "AdaptiveAttention + CL", "adaptive"),
    _contrasted(
      "adaptive_cl_2",
      "AdaptiveAttention + CL, second run",
      "adaptive_cl",
      note="start and reference are the best of the first run (Table 6)",
    ),
    _row("neuraltalk2", "Neuraltalk2, MLE", NEURALTALK2),
    _contrasted("neuraltalk2_cl", f"Neuraltalk2 + CL, {same}", "neuraltalk2"),
    _contrasted("neuraltalk2_adaptive", f"Neuraltalk2 + CL, {other}", "neuraltalk2", "adaptive"),
  )
  return experiments.Table(
    paper="contrastive",
    split="val",
    columns=(
      *experiments.columns(bleu_1="B@1", bleu_4="B@4", meteor="METEOR", rouge_l="ROUGE-L"),
      experiments.Column("cider", "CIDEr"),
      experiments.Column("self_retrieval_1", "Self retrieval at 1"),
      *(experiments.Column(f"self_retrieval_{rank}", f"at {rank}") for rank in _RANKS[1:]),
    ),
    rows=rows,
    claims=_CLAIMS,
    departures=(
      "Fine-tuning starts from the best weights on the val split, and with fresh moments of Adam.",
      "The CNN is not trained; captioners read the features of prepared data.",
      "IL compares with the next picture of the batch, not with one that is fixed beforehand.",
      "A run is saturated after three validations without a better CIDEr; the paper does not say.",
    ),
    elsewhere=(
      "Tables 2 and 3: models of other papers are not here. Table 4: nor is the GAN; its evaluator "
      "is a third network of another paper, whose settings this paper does not print.",
    ),
    command=experiments.reproduce_command(
      "contrastive", "--rows=adaptive,adaptive_cl --metrics=cider --split=test"
    ),
    cost="26 minutes on 2 CPU cores: 2 rows, 3 seeds",
    expected={
      "adaptive": dict(cider=67.54, self_retrieval_1=43.67),
      "adaptive_cl": dict(cider=68.87, self_retrieval_1=50.44),
    },
  )


_CLAIMS = (
  experiments.Claim(better="adaptive_cl", worse="adaptive", key="self_retrieval_1"),
  experiments.Claim(better="adaptive", worse="neuraltalk2", key="self_retrieval_1"),
  experiments.Claim(better="adaptive_cl", worse="adaptive", key="cider"),
  experiments.Claim(better="adaptive_cl", worse="adaptive_positive", key="cider"),
  experiments.Claim(better="adaptive", worse="adaptive_negative", key="cider"),
  experiments.Claim(better="adaptive", worse="adaptive_il", key="cider"),
  experiments.Claim(better="neuraltalk2_cl", worse="neuraltalk2", key="cider"),
  experiments.Claim(better="neuraltalk2_adaptive", worse="neuraltalk2_cl", key="cider"),
)
