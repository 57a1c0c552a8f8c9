"""Contrastive Learning for Image Captioning (NIPS 2017).

Tables 1, 4 and 5: AdaptiveAttention by maximum likelihood (MLE) and after contrastive
learning with the positive, the negative or both constraints; Neuraltalk2 by MLE and
learning from itself or from AdaptiveAttention. Printed figures are of MS-COCO: CIDEr of
Tables 4 and 5 is from the test server's split, self retrieval is over 5,000 pictures.
"""

from gcap_tf.recipes import experiments, scales
from gcap_tf.training.methods import captioning, contrastive

_COLUMNS = (
  experiments.Column("bleu_4", "B@4"),
  experiments.Column("rouge_l", "ROUGE-L"),
  experiments.Column("cider", "CIDEr"),
  experiments.Column("self_retrieval_1", "Self retrieval at 1"),
  experiments.Column("self_retrieval_5", "at 5"),
  experiments.Column("self_retrieval_50", "at 50"),
)


def table(scale: scales.Scale) -> experiments.Table:
  def learned(model: str) -> captioning.CaptionerTrainingConfig:
    return scales.captioner(captioning.for_model(model), scale)

  def contrasted(
    start: str, reference: str = "", terms: str = "both"
  ) -> contrastive.ContrastiveTrainingConfig:
    config = contrastive.ContrastiveTrainingConfig(
      start=experiments.REFERENCE + start,
      reference=experiments.REFERENCE + (reference or start),
      contrast=contrastive.Contrast(terms=terms),
    )
    return scales.contrastive(config, scale)

  rows = (
    experiments.Row(
      "adaptive",
      "AdaptiveAttention, MLE",
      learned("adaptive"),
      {"bleu_4": 32.7, "rouge_l": 54.0, "cider": 104.2},
    ),
    experiments.Row(
      "adaptive_positive",
      "AdaptiveAttention + CL(P)",
      contrasted("adaptive", terms="positive"),
      {"bleu_4": 33.4, "rouge_l": 54.5, "cider": 105.9},
    ),
    experiments.Row(
      "adaptive_negative",
      "AdaptiveAttention + CL(N)",
      contrasted("adaptive", terms="negative"),
      {"bleu_4": 21.2, "rouge_l": 47.9, "cider": 60.3},
    ),
    experiments.Row(
      "adaptive_cl",
      "AdaptiveAttention + CL",
      contrasted("adaptive"),
      {"bleu_4": 35.3, "rouge_l": 55.9, "cider": 114.2},
    ),
    experiments.Row(
      "neuraltalk2",
      "Neuraltalk2, MLE",
      learned("neuraltalk2"),
      {"bleu_4": 29.1, "rouge_l": 51.6, "cider": 88.2},
    ),
    experiments.Row(
      "neuraltalk2_cl",
      "Neuraltalk2 + CL, reference Neuraltalk2",
      contrasted("neuraltalk2"),
      {"bleu_4": 30.0, "rouge_l": 52.4, "cider": 90.5},
    ),
    experiments.Row(
      "neuraltalk2_adaptive",
      "Neuraltalk2 + CL, reference AdaptiveAttention",
      contrasted("neuraltalk2", "adaptive"),
      {"bleu_4": 31.1, "rouge_l": 53.3, "cider": 95.6},
    ),
  )
  return experiments.Table("contrastive", "test", _COLUMNS, rows, _CLAIMS)


_CLAIMS = (
  experiments.Claim("adaptive_cl", "adaptive", "self_retrieval_1"),
  experiments.Claim("adaptive_cl", "adaptive", "cider"),
  experiments.Claim("adaptive_cl", "adaptive_positive", "cider"),
  experiments.Claim("adaptive", "adaptive_negative", "cider"),
  experiments.Claim("neuraltalk2_adaptive", "neuraltalk2_cl", "cider"),
)
