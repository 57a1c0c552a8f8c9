"""The page beside a SavedModel that says what it is, what it learned from and how to ask it."""

import json
import pathlib
from typing import Any

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.training import runs


def text(
  run: runs.Run,
  options: object,
  version: int,
  signatures: dict[str, tf.types.experimental.ConcreteFunction],
) -> str:
  """Markdown: model, data, metrics, licence, and every signature's names, types and shapes."""
  parameters = sum(int(tf.size(variable)) for variable in run.model.variables)
  lines = [
    f"# {run.kind} {run.name}, version {version}",
    "",
    _purpose(run.kind),
    "",
    f"- Parameters: {parameters:,}",
    f"- Vocabulary: {run.vocabulary.size:,} words, fingerprint `{run.vocabulary.fingerprint}`",
    f"- Region labels: {len(run.vocabulary.labels):,}",
    *(f"- {key}: {value}" for key, value in _options(options).items()),
    f"- Made with TensorFlow {tf.__version__}",
    "",
    "Boxes are x1, y1, x2, y2 from 0 to 1. Rows beyond `num_regions` are padding and have no",
    "influence. The model knows the words of its training captions only and repeats their",
    "mistakes and biases; a caption is a guess, and a box is where the model looked, not proof",
    "that the thing is there.",
    "",
    *_data(run),
    *_metrics(run.folder),
    *_licence(run, getattr(options, "licence", "")),
  ]
  for name, function in sorted(signatures.items()):
    lines += [f"## Signature `{name}`", "", "| | name | type | shape |", "|---|---|---|---|"]
    inputs = function.structured_input_signature[1]
    lines += [_row("in", key, spec) for key, spec in sorted(inputs.items())]
    outputs = function.structured_outputs
    lines += [_row("out", key, spec) for key, spec in sorted(outputs.items())]
    lines.append("")
  return "\n".join(lines)


def _options(options: object) -> dict[str, Any]:
  """What was chosen at the export; version and licence have a place of their own."""
  chosen = configs.to_dict(options)
  return {key: value for key, value in chosen.items() if key not in ("version", "licence")}


def _purpose(kind: str) -> str:
  if kind == "matcher":
    return "Scores how well a caption fits the regions of a picture, and where each word looks."
  return "Writes a caption for the regions of a picture, and tells which region each word is about."


def _data(run: runs.Run) -> list[str]:
  """What the weights were learned from, as far as the run folder tells."""
  dataset, training = run.config.get("dataset"), run.config.get("training", {})
  if not dataset:
    return ["## Data", "", "The run folder does not say what the weights were learned from.", ""]
  lines = ["## Data", "", f"Trained on the train split of `{dataset}`."]
  if run.config.get("object_classes"):
    lines.append(f"{len(run.config['object_classes']):,} classes of annotated objects.")
  told = {key: training[key] for key in ("epochs", "seed", "teacher", "losses") if key in training}
  lines += ["", *(f"- {key}: `{value}`" for key, value in _chosen(told).items())]
  return [*lines, ""]


def _chosen(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
  """Nested options as `key.path` -> value, without those that are off."""
  found = {}
  for key, value in options.items():
    if isinstance(value, dict):
      found |= _chosen(value, f"{prefix}{key}.")
    elif value not in (0, "", "none", None, []):
      found[prefix + key] = value
  return found


def _metrics(folder: pathlib.Path) -> list[str]:
  """The last validation of the run."""
  figures = last_validation(folder / "metrics.jsonl")
  if not figures:
    return ["## Metrics", "", "The run folder holds no validation.", ""]
  lines = ["## Metrics", "", f"Last validation, after {figures.pop('step'):,} steps:", ""]
  lines += ["| | |", "|---|---|"]
  lines += [f"| {name.removeprefix('val_')} | {value:.4g} |" for name, value in figures.items()]
  return [*lines, ""]


def last_validation(path: pathlib.Path) -> dict[str, Any]:
  """`step` and the `val_` figures of the last validation in a metrics.jsonl; {} for none."""
  found: dict[str, Any] = {}
  if path.exists():
    for line in path.read_text(encoding="utf-8").splitlines():
      values = json.loads(line)
      figures = {name: value for name, value in values.items() if name.startswith("val_")}
      if figures:
        found = {"step": values["step"], **figures}
  return found


def _licence(run: runs.Run, licence: str) -> list[str]:
  source = run.config.get("dataset") or "their training data"
  told = licence or (
    f"Not stated (`--licence` of the exporter states it). The weights derive from {source}, whose "
    "terms hold for what is made of it."
  )
  return ["## Licence", "", told, ""]


def _row(direction: str, name: str, spec: tf.TensorSpec) -> str:
  shape = ", ".join("?" if size is None else str(size) for size in spec.shape)
  return f"| {direction} | `{name}` | {spec.dtype.name} | [{shape}] |"
