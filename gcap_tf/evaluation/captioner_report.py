"""The figures that `evaluate_captioner` prints: caption scores and grounding scores."""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, self_retrieval
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.metrics import coco_io, diversity, grounding_report, lemma_source, results_io
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words, tokenizer


@dataclasses.dataclass(frozen=True)
class ReportConfig:
  """What is computed and kept.

  Attributes:
    decode: how captions are found.
    metrics: caption metrics, see `captions.METRICS`.
    given_sentences: also judge attention on the split's own captions.
    captions_path: where the captions go (COCO results), "" for nowhere.
    grounding_path: where the grounding submission goes, "" for nowhere.
    self_retrieval: pictures among which captions look for their own; 0 for none.
  """

  decode: decode_config.DecodeConfig
  metrics: tuple[str, ...] = caption_metrics.METRICS
  given_sentences: bool = True
  captions_path: str = ""
  grounding_path: str = ""
  self_retrieval: int = 0


@dataclasses.dataclass(frozen=True)
class Report:
  """Tables for people and one flat dict for programs."""

  text: str
  values: dict[str, Any]


def of_seed(config: ReportConfig, seed: int) -> ReportConfig:
  """The same report with files of its own: `captions.json` becomes `captions_seed_1.json`."""

  def own(path: str) -> str:
    before = pathlib.Path(path)
    return str(before.with_stem(f"{before.stem}_seed_{seed}")) if path else ""

  return dataclasses.replace(
    config, captions_path=own(config.captions_path), grounding_path=own(config.grounding_path)
  )


def evaluate(run: run_folders.Run, split: prepared_data.Split, config: ReportConfig) -> Report:
  """Captions a split and judges the captions and where their words point."""
  answers = captioner_evaluation.caption_split(run.model, run.vocabulary, split, config.decode)
  said = {answer.image_id: answer.caption for answer in answers}
  if config.captions_path:
    coco_io.write_results(config.captions_path, said)
  references = coco_io.read_references(split.data.captions_path(split.name))
  scores = caption_metrics.score(
    references, said, caption_metrics.CaptionMetricsConfig(metrics=config.metrics)
  )
  texts, values = [scores.text()], scores.as_json()
  variety = diversity.diversity([answer.words for answer in answers], training_captions(split.data))
  texts.append(variety.text())
  values |= variety.as_json()
  if config.self_retrieval:
    found = self_retrieval.evaluate(run, split, answers, config.self_retrieval)
    texts.append("\n".join(f"{name} {value:7.2f} %" for name, value in found.items()))
    values |= found
  if split.has_boxes and split.data.object_classes:
    text, figures = grounding_figures(run, split, answers, config)
    texts.append(text)
    values |= figures
  else:
    texts.append(f"grounding not computed: {split.folder} has no annotated boxes")
  return Report("\n\n".join(texts), values)


def training_captions(data: prepared_data.PreparedData) -> Iterator[list[str]] | None:
  """Words of the training captions, for the share of new captions; None where there are none."""
  if "train" not in data.splits:
    return None
  captions = coco_io.read_references(data.captions_path("train"))
  return (tokenizer.tokenize(text) for texts in captions.values() for text in texts)


def grounding_figures(
  run: run_folders.Run,
  split: prepared_data.Split,
  answers: Sequence[captioner_evaluation.Answer],
  config: ReportConfig,
) -> tuple[str, dict[str, Any]]:
  """Grounding of generated sentences, and of the split's own where asked for."""
  path = split.data.references_path(split.name)
  value = files.read_json(path, "references")
  references = results_io.read_references(path, value)
  if not any(caption.classes for reference in references for caption in reference.captions):
    raise errors.UserError(f"{path} has no annotated object word; grounding cannot be judged")
  classes = object_words.ObjectClasses(split.data.object_classes)
  predictions = captioner_evaluation.generated_predictions(answers, classes)
  if config.grounding_path:
    results_io.write_submission(config.grounding_path, predictions, "gen")
  lemmas = lemma_source.choose(None, value)
  report = grounding_report.generated_sentences(references, predictions, lemmas.lemma)
  hallucination = diversity.hallucination(references, predictions, lemmas.lemma)
  text = f"{report.text}\n\n{hallucination.text()}"
  values = report.values | hallucination.as_json()
  if config.given_sentences:
    given = captioner_evaluation.given_predictions(run.model, run.vocabulary, split)
    judged = grounding_report.given_sentences(references, given)
    text, values = f"{text}\n\n{judged.text}", values | judged.values
  return text, values
