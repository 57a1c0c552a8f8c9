"""The MODEL_CARD.md of a SavedModel: what it is, its training data, and how to call it."""

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
  """Returns Markdown: model, data, metrics, licence, and the tensors of every signature."""
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
    "Boxes are x1, y1, x2, y2 from 0 to 1. Rows beyond `num_regions` are padding and do not",
    "change the answer. The model knows only the words of its training captions and repeats",
    "their mistakes and biases. A caption is a guess; a box shows where the model looked and",
    "does not prove that the thing is there.",
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
  """The export options, except version and licence, which the card shows elsewhere."""
  chosen = configs.to_dict(options)
  return {key: value for key, value in chosen.items() if key not in ("version", "licence")}


def _purpose(kind: str) -> str:
  if kind == "matcher":
    return "Scores how well a caption fits a picture, and reports the region of each word."
  return "Writes a caption for a picture, and reports the region that each word is about."


def _row(direction: str, name: str, spec: tf.TensorSpec) -> str:
  shape = ", ".join("?" if size is None else str(size) for size in spec.shape)
  return f"| {direction} | `{name}` | {spec.dtype.name} | [{shape}] |"
