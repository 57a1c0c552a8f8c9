"""Reads grounding files, finds schema and mode, scores them and makes a report."""

import dataclasses
from typing import Any, NoReturn

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.metrics import grounding_per_sentence, grounding_report, lemma_source, results_io
from gcap_tf.metrics.activitynet import anet_io, anet_report

DIGITS = 10


@dataclasses.dataclass(frozen=True)
class ScoreConfig:
  """Files to score, and how.

  Attributes:
    predictions, references: files of the official schemas.
    split_ids, split: file of split name -> ids, and the split; both or neither.
    lemmas: file of word -> lemma, see `lemma_source`.
    recall_over: see `grounding_per_sentence`.
    train_references: references whose class counts order the groups by frequency.
    classes_shown: rows of the table of classes.
  """

  predictions: str
  references: str
  split_ids: str | None = None
  split: str | None = None
  lemmas: str | None = None
  recall_over: grounding_per_sentence.RecallOver = "classes"
  train_references: str | None = None
  classes_shown: configs.Count = 10


def score(config: ScoreConfig) -> grounding_report.Report:
  """Scores a submission; the report's values begin with the mode."""
  if (config.split_ids is None) != (config.split is None):
    raise errors.UserError("--split_ids and --split go together: give both or neither")
  chosen = None
  if config.split_ids is not None:
    chosen = results_io.read_split_ids(config.split_ids, config.split)
  value = files.read_json(config.references, "references")
  read = _videos if anet_io.is_video(value) else _pictures
  return read(config, value, chosen)


def _pictures(config: ScoreConfig, value: Any, chosen: set[str] | None) -> grounding_report.Report:
  references = results_io.read_references(config.references, value, chosen)
  if not references:
    _refuse(config, [str(entry["image_id"]) for entry in value["annotations"][:3]], chosen)
  submission = results_io.read_submission(config.predictions)
  mode = grounding_report.eval_mode(submission, references)
  if mode == "GT":
    report = grounding_report.given_sentences(references, submission.results, config.classes_shown)
    return _finished(report, mode)
  frequency = None
  if config.train_references is not None:
    training = results_io.read_references(config.train_references)
    frequency = results_io.class_counts(training)
  lemmas = lemma_source.choose(config.lemmas, value)
  report = grounding_report.generated_sentences(
    references,
    submission.results,
    lemmas.lemma,
    config.recall_over,
    frequency,
    config.classes_shown,
  )
  return _finished(report, mode, lemmas.source)


def _videos(config: ScoreConfig, value: Any, chosen: set[str] | None) -> grounding_report.Report:
  references = anet_io.read_references(config.references, value, chosen)
  if not references:
    _refuse(config, list(value["annotations"])[:3], chosen)
  predictions, mode = anet_io.read_submission(config.predictions)
  if mode is None:
    raise errors.UserError(
      f'predictions {config.predictions}: no "eval_mode"; say "gen" for generated sentences '
      'or "GT" for given ones'
    )
  if mode == "GT":
    report = anet_report.given_sentences(references, predictions, config.classes_shown)
    return _finished(report, mode)
  lemmas = lemma_source.choose(config.lemmas, value, by_tag=True)
  report = anet_report.generated_sentences(
    references, predictions, lemmas.lemma, config.classes_shown
  )
  return _finished(report, mode, lemmas.source)


def _refuse(config: ScoreConfig, found: list[str], chosen: set[str] | None) -> NoReturn:
  raise errors.UserError(
    f"no reference is left: {config.references} has {', '.join(found) or 'no annotation'}, split "
    f"{config.split} has {', '.join(sorted(chosen or ())[:3]) or 'no id'}"
  )


def _finished(
  report: grounding_report.Report, mode: str, lemmas: str = ""
) -> grounding_report.Report:
  """The report with its mode, and with the source of its lemmas if they were used.

  Values are rounded to DIGITS: enough to compare with the official evaluators to 1e-9.
  """
  rounded = {
    name: round(value, DIGITS) if isinstance(value, float) else value
    for name, value in report.values.items()
  }
  values = {"eval_mode": mode, **rounded}
  if not lemmas:
    return grounding_report.Report(report.text, values)
  return grounding_report.Report(f"{report.text}\n\nlemmas: {lemmas}", {**values, "lemmas": lemmas})
