"""The contract of an evaluator: it takes a model's answers on a split and reports figures.

An evaluator is one file in `evaluators/` with one register line:

    @evaluator.CAPTIONERS.register("toy")
    class Toy(evaluator.Evaluator[evaluator.CaptionerAnswers]):
      def run(self, subject): return evaluator.Report("a table", {"toy": 1.0})

The reports (`captioner_report`, `matcher_report`) run every evaluator of the folder.
"""

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from gcap_tf import files, registry
from gcap_tf.data.prepared import prepared_data
from gcap_tf.decoding import answers
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, matcher_evaluation
from gcap_tf.matchers import blocks, ensemble
from gcap_tf.metrics import attention as attention_metrics
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.runs import run_folders

S = TypeVar("S")


@dataclasses.dataclass(frozen=True)
class ReportConfig:
  """What a captioner's report contains, and which files it writes.

  Attributes:
    decode: how captions are found.
    metrics: caption metrics, see `captions.METRICS`.
    given_sentences: also judge attention on the split's own captions.
    captions_path: file for the captions (COCO results); "" writes none.
    grounding_path: file for the grounding submission; "" writes none.
    given_path: file for the submission of the split's own captions; "" writes none.
    errors_path: folder for photographs of right and wrong words; "" draws none.
    pictures: folder of the photographs, for `errors_path`.
    strips_path: folder for grounded segments of videos; "" draws none.
    self_retrieval: number of pictures that each caption is ranked among; 0 for none.
    statistics: also report what each picture adds to figures.
    rules: adds scores to the answers, and no answer if nothing is known; None answers always.
    change: what the captioner sees instead of each batch, see `region_changes`.
  """

  decode: decode_config.DecodeConfig
  metrics: tuple[str, ...] = caption_metrics.METRICS
  given_sentences: bool = True
  captions_path: str = ""
  grounding_path: str = ""
  given_path: str = ""
  errors_path: str = ""
  pictures: str = ""
  strips_path: str = ""
  self_retrieval: int = 0
  statistics: bool = False
  rules: answers.AnswerRules | None = None
  change: captioner_evaluation.Change | None = None


@dataclasses.dataclass(frozen=True)
class Report:
  """Tables for people and one flat dict for programs, with every score in percent.

  Attributes:
    text: the tables.
    values: scores by key.
    statistics: what each picture adds to a score, in the order of the split; asked for.
  """

  text: str = ""
  values: dict[str, Any] = dataclasses.field(default_factory=dict)
  statistics: dict[str, resampling.Statistic] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class CaptionerAnswers:
  """A captioner and its captions of a split.

  Attributes:
    run: the captioner.
    split: the pictures.
    config: what to report.
  """

  run: run_folders.Run
  split: prepared_data.Split
  config: ReportConfig

  @functools.cached_property
  def answers(self) -> list[captioner_evaluation.Answer]:
    """The caption of every picture, in order."""
    config = self.config
    return captioner_evaluation.caption_split(
      self.run.model,
      self.run.vocabulary,
      self.split,
      config.decode,
      rules=config.rules,
      change=config.change,
    )


@dataclasses.dataclass(frozen=True)
class MatcherScores:
  """A matcher, or an ensemble of matchers, and its scores on a split.

  Attributes:
    members: one matcher, or those of an ensemble.
    split: pictures and captions.
    folds: 5 averages retrieval over five folds of the pictures (COCO 1K).
    curve: file for the attention PR curve; None draws none.
    iou: T_IoU, above which a region is relevant to a phrase.
    statistics: also report what each picture adds to figures.
  """

  members: Sequence[run_folders.Run]
  split: prepared_data.Split
  folds: int = 1
  curve: files.PathLike | None = None
  iou: float = attention_metrics.IOU
  statistics: bool = False

  @functools.cached_property
  def similarity(self) -> np.ndarray:
    """[I, C], the mean over the members."""
    matrices = []
    for run in self.members:
      encoded = matcher_evaluation.encode_split(run.model, run.vocabulary, self.split)
      matrices.append(blocks.similarity_matrix(run.model, encoded.images, encoded.captions))
    return ensemble.mean_similarity(matrices)


class Evaluator(abc.ABC, Generic[S]):
  """Reports one kind of figures."""

  @abc.abstractmethod
  def run(self, subject: S) -> Report:
    """Figures of the subject; an empty report, or one that says why, if there are none."""


CAPTIONERS: registry.Registry[type[Evaluator[CaptionerAnswers]]] = registry.Registry(
  "evaluator of captioners"
)
MATCHERS: registry.Registry[type[Evaluator[MatcherScores]]] = registry.Registry(
  "evaluator of matchers"
)


def run_all(evaluators: registry.Registry[type[Evaluator[S]]], subject: S) -> Report:
  """The reports of all evaluators in one, in the order of their names."""
  reports = [evaluators.get(name)().run(subject) for name in evaluators.names()]
  text = "\n\n".join(report.text for report in reports if report.text)
  return Report(
    text,
    {key: value for report in reports for key, value in report.values.items()},
    {key: value for report in reports for key, value in report.statistics.items()},
  )
