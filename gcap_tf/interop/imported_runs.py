"""Converts official PyTorch checkpoints to run folders."""

import pathlib

import keras

from gcap_tf import errors, files, locks
from gcap_tf.interop import captioner_checkpoints, matcher_checkpoints
from gcap_tf.runs import packed_weights, run_folders
from gcap_tf.text import vocabulary as vocabularies

FAMILIES = ("scan", "bfan", "pfan", "sgraf", "updown")


def import_files(
  family: str,
  weights: files.PathLike,
  options: files.PathLike,
  vocabulary: files.PathLike,
  out: files.PathLike,
) -> tuple[str, keras.Model]:
  """Writes the run folder `out`; returns the registered name of the model, and the model.

  Args:
    family: which program wrote the checkpoint.
    weights: its state dict, saved with numpy.savez.
    options: a JSON object of its options under their official names.
    vocabulary: the JSON file that belongs to it.
    out: the run folder.
  """
  arrays = packed_weights.read_arrays(weights)
  values = files.read_json(options, "options")
  if not isinstance(values, dict):
    raise errors.UserError(f"options {options} must be a JSON object of names and values")
  words = vocabularies.Vocabulary.load(vocabulary)
  try:
    if family == "updown":
      kind, name = "captioner", "updown"
      _, model = captioner_checkpoints.import_updown(arrays, values, words)
    else:
      kind = "matcher"
      name, model = matcher_checkpoints.import_matcher(family, arrays, values, words)
  except errors.UserError as error:
    raise errors.UserError(f"{weights}: {error}") from None
  origin = {"family": family, "weights": str(weights), "options": values}
  extra = {"imported": origin}
  if kind == "matcher":
    # How the program splits captions. Only POS-SCAN's program has an option `pos`; it splits
    # at spaces, so that words match its tags, whether `pos` is on or off.
    extra["tokenizer"] = "whitespace" if "pos" in values else "treebank"
  elif values.get("max_length"):
    extra["max_length"] = int(values["max_length"])
  with locks.hold(out):
    out = pathlib.Path(out)
    check_replaceable(out)
    files.remove_leftovers(out.parent, out.name)
    with files.atomic_path(out) as partial:
      run_folders.save(partial, kind, name, model, words, extra=extra)
  return name, model


def check_replaceable(out: pathlib.Path) -> None:
  """Refuses to replace anything but an imported run, or nothing."""
  if not out.exists() or (out.is_dir() and not any(out.iterdir())):
    return
  path = out / "config.json"
  config = files.read_sealed_json(path, "run configuration") if path.is_file() else None
  if isinstance(config, dict) and "imported" in config:
    return
  raise errors.UserError(
    f"--out={out} holds something other than an imported run, which would be lost; choose another "
    "folder"
  )
