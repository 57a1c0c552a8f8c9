"""Contrastive Learning for Image Captioning.

Dai and Lin, NIPS 2017, arXiv:1710.02534. AdaptiveAttention and Neuraltalk2 by maximum likelihood
(MLE), then by contrastive learning (CL) with both constraints, the positive one CL(P) or the
negative one CL(N), from a reference of the same or of another model.

    python -m trainers.train_captioner --recipe=adaptive_coco --data=data/coco --run=runs/adaptive
    python -m trainers.finetune_contrastive --start=runs/adaptive --data=data/coco --run=runs/cl
    python -m trainers.reproduce --paper=contrastive --data=data/coco --out=results/contrastive
"""

import dataclasses

from gcap_tf.recipes import experiments, scales
from gcap_tf.training.methods import captioning, contrastive

_SOURCE = "Dai and Lin, NIPS 2017"

# MS-COCO: Tables 4 and 5.
_PRINTED = {
  "adaptive": dict(bleu_4=32.7, rouge_l=54.0, cider=104.2),
  "adaptive_positive": dict(bleu_4=33.4, rouge_l=54.5, cider=105.9),
  "adaptive_negative": dict(bleu_4=21.2, rouge_l=47.9, cider=60.3),
  "adaptive_cl": dict(bleu_4=35.3, rouge_l=55.9, cider=114.2),
  "neuraltalk2": dict(bleu_4=29.1, rouge_l=51.6, cider=88.2),
  "neuraltalk2_cl": dict(bleu_4=30.0, rouge_l=52.4, cider=90.5),
  "neuraltalk2_adaptive": dict(bleu_4=31.1, rouge_l=53.3, cider=95.6),
}

# The captioners that contrastive learning starts from. The CNN is not trained.
CAPTIONERS = (
  experiments.Preset(
    name="adaptive_coco",
    training=dataclasses.replace(captioning.for_model("adaptive"), epochs=20),
    printed=_PRINTED["adaptive"],
    source=_SOURCE,
  ),
  experiments.Preset(
    name="neuraltalk2_coco",
    training=dataclasses.replace(captioning.for_model("neuraltalk2"), images=16),
    printed=_PRINTED["neuraltalk2"],
    source=_SOURCE,
  ),
)


def table(scale: scales.Scale) -> experiments.Table:
  """Tables 4 and 5, with self retrieval as in Table 1; test split."""

  def learned(model: str, label: str) -> experiments.Row:
    training = scales.captioner(captioning.for_model(model), scale)
    return experiments.Row(name=model, label=label, training=training, printed=_PRINTED[model])

  def contrasted(
    name: str, label: str, start: str, reference: str = "", terms: str = "both"
  ) -> experiments.Row:
    training = contrastive.ContrastiveTrainingConfig(
      start=experiments.REFERENCE + start,
      reference=experiments.REFERENCE + (reference or start),
      contrast=contrastive.Contrast(terms=terms),
    )
    return experiments.Row(
      name=name,
      label=label,
      training=scales.contrastive(training, scale),
      printed=_PRINTED[name],
    )

  same, other = "reference Neuraltalk2", "reference AdaptiveAttention"
  rows = (
    learned("adaptive", "AdaptiveAttention, MLE"),
    contrasted("adaptive_positive", "AdaptiveAttention + CL(P)", "adaptive", terms="positive"),
    contrasted("adaptive_negative", "AdaptiveAttention + CL(N)", "adaptive", terms="negative"),
    contrasted("adaptive_cl", "AdaptiveAttention + CL", "adaptive"),
    learned("neuraltalk2", "Neuraltalk2, MLE"),
    contrasted("neuraltalk2_cl", f"Neuraltalk2 + CL, {same}", "neuraltalk2"),
    contrasted("neuraltalk2_adaptive", f"Neuraltalk2 + CL, {other}", "neuraltalk2", "adaptive"),
  )
  return experiments.Table(
    paper="contrastive",
    split="test",
    printed_data="coco",
    columns=(
      experiments.Column("bleu_4", "B@4"),
      experiments.Column("rouge_l", "ROUGE-L"),
      experiments.Column("cider", "CIDEr"),
      experiments.Column("self_retrieval_1", "Self retrieval at 1"),
      experiments.Column("self_retrieval_5", "at 5"),
      experiments.Column("self_retrieval_50", "at 50"),
    ),
    rows=rows,
    claims=_CLAIMS,
    command=experiments.reproduce_command(
      "contrastive", "--rows=adaptive,adaptive_cl --metrics=cider"
    ),
    cost="26 minutes on 2 CPU cores: 2 rows, 3 seeds",
    expected={
      "adaptive": dict(cider=67.54, self_retrieval_1=43.67),
      "adaptive_cl": dict(cider=68.87, self_retrieval_1=50.44),
    },
  )


_CLAIMS = (
  experiments.Claim(better="adaptive_cl", worse="adaptive", key="self_retrieval_1"),
  experiments.Claim(better="adaptive_cl", worse="adaptive", key="cider"),
  experiments.Claim(better="adaptive_cl", worse="adaptive_positive", key="cider"),
  experiments.Claim(better="adaptive", worse="adaptive_negative", key="cider"),
  experiments.Claim(better="neuraltalk2_adaptive", worse="neuraltalk2_cl", key="cider"),
)
