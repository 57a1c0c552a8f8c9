"""The field's caption scores: BLEU-1 to 4, METEOR, ROUGE-L, CIDEr, SPICE.

BLEU, ROUGE-L and CIDEr come from pycocoevalcap, METEOR and SPICE from their Java
programs. All are on the scale that papers print, 100 times the tools' own (a CIDEr of
0.763 is 76.3). Text is tokenised as COCO's evaluation does. A metric that cannot be
computed here is left out with its reason; the others stand.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gcap_tf import errors, optional
from gcap_tf.metrics import java, meteor, ptb, spice

METRICS = ("bleu", "meteor", "rouge_l", "cider", "spice")
SCALE = 100.0


@dataclasses.dataclass(frozen=True)
class CaptionMetricsConfig:
  """What is computed, and what Java may use.

  Attributes:
    metrics: any of METRICS.
    meteor_heap, spice_heap: memory of the Java programs.
    timeout_seconds: time of each Java program.
  """

  metrics: tuple[str, ...] = METRICS
  meteor_heap: str = "2g"
  spice_heap: str = "4g"
  timeout_seconds: float = 3600.0


@dataclasses.dataclass(frozen=True)
class CaptionScores:
  """Scores of a set of captions, 100 times the tools' own.

  Attributes:
    values: `bleu_1`..`bleu_4`, `meteor`, `rouge_l`, `cider`, `spice`, where computed.
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
  """Scores one caption a picture.

  Args:
    references: image id -> captions as people wrote them.
    captions: image id -> generated caption; pictures without one are left out.
    config: which metrics, and limits.
  """
  config = config or CaptionMetricsConfig()
  unknown = set(config.metrics) - set(METRICS)
  if unknown:
    raise errors.UserError(f"unknown metric {sorted(unknown)[0]!r}; known: {', '.join(METRICS)}")
  _check(references, captions)
  tokens, tokenizer = _tokenized(references, captions)
  truth = {image: tokens[image][1:] for image in captions}
  said = {image: tokens[image][0] for image in captions}

  values: dict[str, float] = {}
  per_image: dict[str, dict[str, float]] = {}
  not_computed: dict[str, str] = {}

  def keep(name: str, total: float, each: Iterable[float]) -> None:
    values[name] = SCALE * float(total)
    per_image[name] = dict(zip(captions, (SCALE * float(v) for v in each), strict=True))

  if "bleu" in config.metrics:
    totals, each = _scorer("bleu").Bleu(4).compute_score(truth, _listed(said), verbose=0)
    for n in range(4):
      keep(f"bleu_{n + 1}", totals[n], each[n])
  if "meteor" in config.metrics:
    _by_java(
      "meteor",
      lambda: meteor.meteor(truth, said, config.meteor_heap, config.timeout_seconds),
      keep,
      not_computed,
    )
  if "rouge_l" in config.metrics:
    keep("rouge_l", *_scorer("rouge").Rouge().compute_score(truth, _listed(said)))
  if "cider" in config.metrics:
    keep("cider", *_scorer("cider").Cider().compute_score(truth, _listed(said)))
  if "spice" in config.metrics:
    _by_java(
      "spice",
      lambda: spice.spice(truth, said, config.spice_heap, config.timeout_seconds),
      keep,
      not_computed,
    )
  return CaptionScores(values, per_image, not_computed, tokenizer)


def _scorer(name: str):
  """A module of pycocoevalcap."""
  return optional.require(f"pycocoevalcap.{name}.{name}", "train")


def _by_java(
  name: str,
  compute: Callable[[], tuple[float, dict[str, float]]],
  keep: Callable[[str, float, Iterable[float]], None],
  not_computed: dict[str, str],
) -> None:
  try:
    total, each = compute()
  except java.NotComputed as reason:
    not_computed[name] = str(reason)
  else:
    keep(name, total, each.values())


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
