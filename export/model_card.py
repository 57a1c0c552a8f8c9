"""The page beside a SavedModel that says what it is, what it learned from and how to ask it."""

from typing import Any

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.runs import card_sections, run_folders


def text(
  run: run_folders.Run,
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
    *card_sections.data(run),
    *card_sections.stages(run.config),
    *card_sections.metrics(run),
    *card_sections.licence(run, getattr(options, "licence", "")),
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


def _row(direction: str, name: str, spec: tf.TensorSpec) -> str:
  shape = ", ".join("?" if size is None else str(size) for size in spec.shape)
  return f"| {direction} | `{name}` | {spec.dtype.name} | [{shape}] |"
