"""Caption scores: BLEU-1 to 4, METEOR, ROUGE-L, CIDEr, SPICE.

BLEU, ROUGE-L and CIDEr come from pycocoevalcap, METEOR and SPICE from their Java
programs; the figures equal those of COCO's evaluation, and text is tokenised as there.
Range: percent as papers print, 100 times the tools' own (a CIDEr of 0.763 is 76.3). A
metric that cannot be computed is left out with its reason.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, optional, registry
from gcap_tf.metrics.java_scorers import java, meteor, ptb, spice

METRICS = ("bleu", "meteor", "rouge_l", "cider", "spice")
SCALE = 100.0

Text = Mapping[str, str]
Texts = Mapping[str, Sequence[str]]
# Key of the report -> the score of all captions, and that of each caption, in order.
Found = Mapping[str, tuple[float, Iterable[float]]]
# A scorer takes tokenised references and captions by image id, and the configuration; it
# raises `java.NotComputed` if it cannot run.
SCORERS: registry.Registry[Callable[..., Found]] = registry.Registry("metric")


@dataclasses.dataclass(frozen=True)
class CaptionMetricsConfig:
  """Metrics to compute, and limits of the Java programs.

  Attributes:
    metrics: names of SCORERS, in the order of the report.
    meteor_heap, spice_heap: memory of the Java programs.
    timeout_seconds: time of each Java program.
  """

  metrics: tuple[str, ...] = METRICS
  meteor_heap: str = "2g"
  spice_heap: str = "4g"
  timeout_seconds: configs.Positive = 3600.0


@dataclasses.dataclass(frozen=True)
class CaptionScores:
  """Scores of a set of captions, 100 times the tools' own.

  Attributes:
    values: `bleu_1`..`bleu_4`, `meteor`, `rouge_l`, `cider`, `spice`, if computed.
    per_image: metric -> image id -> score.
    not_computed: metric -> reason.
    tokenizer: which tokenizer read the text.
  """

  values: dict[str, float]
  per_image: dict[str, dict[str, float]]
  not_computed: dict[str, str]
  tokenizer: str

  def as_json(self) -> dict[str, Any]:
    extra = {"not_computed": self.not_computed} if self.not_computed else {}
    return {**self.values, **extra, "caption_tokenizer": self.tokenizer}

  def text(self) -> str:
    """Lines for people."""
    lines = [f"{name:8s} {value:7.2f}" for name, value in self.values.items()]
    lines += [f"{name:8s} not computed: {why}" for name, why in self.not_computed.items()]
    return "\n".join([*lines, f"tokenizer: {self.tokenizer}"])


def score(
  references: Mapping[str, Sequence[str]],
  captions: Mapping[str, str],
  config: CaptionMetricsConfig | None = None,
) -> CaptionScores:
  """Scores one caption per picture.

  Args:
    references: image id -> captions as people wrote them.
    captions: image id -> generated caption; pictures without one are left out.
    config: which metrics, and limits.
  """
  config = config or CaptionMetricsConfig()
  for name in config.metrics:
    SCORERS.get(name)  # A wrong name fails before the work begins.
  _check(references, captions)
  tokens, tokenizer = _tokenized(references, captions)
  truth = {image: tokens[image][1:] for image in captions}
  generated = {image: tokens[image][0] for image in captions}

  values: dict[str, float] = {}
  per_image: dict[str, dict[str, float]] = {}
  not_computed: dict[str, str] = {}
  for name in config.metrics:
    try:
      found = SCORERS.get(name)(truth, generated, config)
    except java.NotComputed as reason:
      not_computed[name] = str(reason)
      continue
    for key, (total, each) in found.items():
      values[key] = SCALE * float(total)
      per_image[key] = dict(zip(captions, (SCALE * float(v) for v in each), strict=True))
  return CaptionScores(values, per_image, not_computed, tokenizer)


@SCORERS.register("bleu")
def _bleu(references: Texts, captions: Text, config: CaptionMetricsConfig) -> Found:
  del config
  bleu = _scorer("bleu").Bleu(4)
  totals, each = bleu.compute_score(references, _listed(captions), verbose=0)
  return {f"bleu_{n + 1}": (totals[n], each[n]) for n in range(4)}


@SCORERS.register("meteor")
def _meteor(references: Texts, captions: Text, config: CaptionMetricsConfig) -> Found:
  limits = config.meteor_heap, config.timeout_seconds
  total, each = meteor.meteor(references, captions, *limits)
  return {"meteor": (total, each.values())}


@SCORERS.register("rouge_l")
def _rouge_l(references: Texts, captions: Text, config: CaptionMetricsConfig) -> Found:
  del config
  return {"rouge_l": _scorer("rouge").Rouge().compute_score(references, _listed(captions))}


@SCORERS.register("cider")
def _cider(references: Texts, captions: Text, config: CaptionMetricsConfig) -> Found:
  del config
  return {"cider": _scorer("cider").Cider().compute_score(references, _listed(captions))}


@SCORERS.register("spice")
def _spice(references: Texts, captions: Text, config: CaptionMetricsConfig) -> Found:
  limits = config.spice_heap, config.timeout_seconds
  total, each = spice.spice(references, captions, *limits)
  return {"spice": (total, each.values())}


def _scorer(name: str):
  """A module of pycocoevalcap."""
  return optional.require(f"pycocoevalcap.{name}.{name}", "train")


def _tokenized(
  references: Mapping[str, Sequence[str]], captions: Mapping[str, str]
) -> tuple[dict[str, list[str]], str]:
  """Image id -> its caption and its references, tokenised in one go."""
  texts = [text for image in captions for text in (captions[image], *references[image])]
  tokenised, name = ptb.tokenize(texts)
  lines = iter(tokenised)
  result = {image: [next(lines) for _ in range(1 + len(references[image]))] for image in captions}
  return result, name


def _listed(captions: Mapping[str, str]) -> dict[str, list[str]]:
  return {image: [caption] for image, caption in captions.items()}


def _check(references: Mapping[str, Sequence[str]], captions: Mapping[str, str]) -> None:
  strange = [image for image in captions if not references.get(image)]
  if strange or not captions:
    raise errors.UserError(
      f"captions of {', '.join(strange[:3]) or 'no picture'} have no references; "
      f"references are of {', '.join(list(references)[:3]) or 'no picture'}; "
      "check the split and how ids are written"
    )
  if not any(text.strip() for image in captions for text in references[image]):
    raise errors.UserError("every reference caption is empty")
