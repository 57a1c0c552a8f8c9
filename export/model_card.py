"""The page beside a SavedModel that says what it is and how to ask it."""

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.training import runs


def text(
  run: runs.Run,
  options: object,
  version: int,
  signatures: dict[str, tf.types.experimental.ConcreteFunction],
) -> str:
  """Markdown: model, vocabulary, signatures with every name, type and shape, options."""
  parameters = sum(int(tf.size(variable)) for variable in run.model.variables)
  lines = [
    f"# {run.kind} {run.name}, version {version}",
    "",
    _purpose(run.kind),
    "",
    f"- Parameters: {parameters:,}",
    f"- Vocabulary: {run.vocabulary.size:,} words, fingerprint `{run.vocabulary.fingerprint}`",
    f"- Region labels: {len(run.vocabulary.labels):,}",
    *(f"- {key}: {value}" for key, value in configs.to_dict(options).items()),
    f"- Made with TensorFlow {tf.__version__}",
    "",
    "Boxes are x1, y1, x2, y2 from 0 to 1. Rows beyond `num_regions` are padding and have no",
    "influence. The model knows the words of its training captions only and repeats their",
    "mistakes and biases; a caption is a guess, and a box is where the model looked, not proof",
    "that the thing is there.",
    "",
  ]
  for name, function in sorted(signatures.items()):
    lines += [f"## Signature `{name}`", "", "| | name | type | shape |", "|---|---|---|---|"]
    inputs = function.structured_input_signature[1]
    lines += [_row("in", key, spec) for key, spec in sorted(inputs.items())]
    outputs = function.structured_outputs
    lines += [_row("out", key, spec) for key, spec in sorted(outputs.items())]
    lines.append("")
  return "\n".join(lines)


def _purpose(kind: str) -> str:
  if kind == "matcher":
    return "Scores how well a caption fits the regions of a picture, and where each word looks."
  return "Writes a caption for the regions of a picture, and tells which region each word is about."


def _row(direction: str, name: str, spec: tf.TensorSpec) -> str:
  shape = ", ".join("?" if size is None else str(size) for size in spec.shape)
  return f"| {direction} | `{name}` | {spec.dtype.name} | [{shape}] |"
