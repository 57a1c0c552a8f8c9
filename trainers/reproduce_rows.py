"""Trains and evaluates one row of a reproduction with one seed, unless it is done."""

import dataclasses
import pathlib
import time
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import contents, prepared_data
from gcap_tf.evaluation import captioner_evaluation, captioner_report, matcher_report
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments, results
from gcap_tf.runs import run_folders
from gcap_tf.training.methods import captioning, contrastive, matching, self_critical

_STATISTICS, _RESULT = "statistics.npz", "result.json"


def run(
  row: experiments.Row,
  seed: int,
  data: prepared_data.PreparedData,
  split: str,
  out: pathlib.Path,
  metrics: tuple[str, ...] = caption_metrics.METRICS,
  self_retrieval: int = 0,
) -> dict[str, Any]:
  """{"figures": ..., "minutes": ...} of a row; kept in result.json, computed once.

  A training that was stopped continues; a run with other settings or data is trained again.
  """
  result = kept(row, seed, data, split, out, metrics, self_retrieval)
  if result is not None:
    return result
  folder = folder_of(out, row.name, seed)
  training = _resolved(row, seed, out)
  if (folder / _RESULT).exists():
    files.remove(folder)
  started = time.monotonic()
  train(training, data, folder)
  members = getattr(training, "members", (str(folder),))
  figures, pictures = evaluate(list(members), data, split, metrics, self_retrieval)
  if not results.is_finite(figures):
    raise errors.UserError(f"{folder}: a figure is not finite; the run diverged")
  minutes = (time.monotonic() - started) / 60.0
  settings = _settings(training, data, split, metrics, self_retrieval)
  made_on = contents.fingerprint(data)
  result = {"settings": settings, "data": made_on, "figures": figures, "minutes": minutes}
  folder.mkdir(parents=True, exist_ok=True)
  resampling.save(folder / _STATISTICS, pictures)
  files.write_json(folder / _RESULT, result)
  return result


def kept(
  row: experiments.Row,
  seed: int,
  data: prepared_data.PreparedData,
  split: str,
  out: pathlib.Path,
  metrics: tuple[str, ...] = caption_metrics.METRICS,
  self_retrieval: int = 0,
) -> dict[str, Any] | None:
  """What `run` has kept of a run with these settings and data; None if it is not done."""
  path = folder_of(out, row.name, seed) / _RESULT
  if not path.exists():
    return None
  training = _resolved(row, seed, out)
  result = files.read_json(path)
  # Runs of earlier versions do not say what data they are of.
  if result.get("data") not in (None, contents.fingerprint(data)):
    return None
  wanted = _settings(training, data, split, metrics, self_retrieval)
  return result if _are_same(result.get("settings"), wanted, type(training)) else None


def _resolved(row: experiments.Row, seed: int, out: pathlib.Path) -> Any:
  """The configuration of a run, with the folders of the runs that it needs."""
  needed = {name: str(folder_of(out, name, seed)) for name in experiments.needs(row.training)}
  return dataclasses.replace(experiments.resolved(row.training, needed), seed=seed)


def _settings(
  training: Any,
  data: prepared_data.PreparedData,
  split: str,
  metrics: tuple[str, ...],
  self_retrieval: int,
) -> list[Any]:
  return [configs.to_dict(training), split, data.name, list(metrics), self_retrieval]


def _are_same(kept: Any, settings: list[Any], kind: type) -> bool:
  """Whether a run was made with these settings; options that came later had their defaults."""
  try:
    before = configs.to_dict(configs.from_dict(kind, kept[0]))
  except (errors.UserError, TypeError, IndexError):
    return False  # Options that no longer exist.
  return [before, *kept[1:]] == settings


def statistics(out: pathlib.Path, name: str, seed: int) -> dict[str, resampling.Statistic]:
  """What the pictures of a finished run add to its figures."""
  path = folder_of(out, name, seed) / _STATISTICS
  return resampling.load(path) if path.exists() else {}


def finished_at(out: pathlib.Path, name: str, seed: int) -> float:
  """When a run was finished, in seconds since 1970."""
  return (folder_of(out, name, seed) / _RESULT).stat().st_mtime


def folder_of(out: pathlib.Path, name: str, seed: int) -> pathlib.Path:
  return out / name / f"seed_{seed}"


def train(training: Any, data: prepared_data.PreparedData, folder: pathlib.Path) -> None:
  """Trains by the kind of configuration; the members of an average are trained already."""
  trainers = {
    matching.MatcherTrainingConfig: matching.train,
    captioning.CaptionerTrainingConfig: captioning.train,
    self_critical.ScstTrainingConfig: self_critical.train,
    contrastive.ContrastiveTrainingConfig: contrastive.train,
    experiments.Average: lambda *_: None,
  }
  trainers[type(training)](data, training, folder)


def evaluate(
  folders: list[str],
  data: prepared_data.PreparedData,
  split: str,
  metrics: tuple[str, ...],
  self_retrieval: int = 0,
) -> tuple[dict[str, float], dict[str, resampling.Statistic]]:
  """The figures that the evaluation commands print, and what pictures add to them.

  Several folders are an ensemble of matchers.
  """
  run = run_folders.load(folders[0])
  chosen = data.split(split)
  if run.kind == "matcher":
    members = [run_folders.load(folder, "matcher") for folder in folders]
    found = matcher_report.evaluate(members, chosen, statistics=True)[0]
    return found.values, found.statistics
  config = captioner_report.ReportConfig(
    decode=captioner_evaluation.usual_decoding(run.model),
    metrics=metrics,
    self_retrieval=min(self_retrieval, len(chosen)),
    captions_path=str(pathlib.Path(folders[0]) / "captions.json"),
    grounding_path=str(pathlib.Path(folders[0]) / "grounding.json"),
    given_path=str(pathlib.Path(folders[0]) / "given.json"),
    statistics=True,
  )
  report = captioner_report.evaluate(run, chosen, config)
  return report.values, report.statistics
