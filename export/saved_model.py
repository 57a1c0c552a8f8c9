"""From a run to a version that can be served, or to nothing at all.

A version is written under a name that servers do not look at, loaded again, compared
with the model in memory, warmed up, and only then given its number in one rename.
"""

import dataclasses
import os
import pathlib

import numpy as np
import tensorflow as tf
from absl import logging

from export import captioner_module, matcher_module, model_card, thing_words, warmup_requests
from gcap_tf import errors, files
from gcap_tf.runs import run_folders

TOLERANCE = 1e-4


@dataclasses.dataclass(frozen=True)
class ExportConfig:
  """How to export.

  Attributes:
    version: number of the version; 0 takes the next free one.
    beam_size: N of a captioner's `beam` signature.
    max_length: longest caption, T.
    float16_weights: store weights in half precision.
    object_words: words that name things; () lets the vocabulary decide (`thing_words`).
    licence: of the weights, for the model card.
  """

  version: int = 0
  beam_size: int = 3
  max_length: int = 20
  float16_weights: bool = False
  object_words: tuple[str, ...] = ()
  licence: str = ""

  def __post_init__(self):
    for name in ("beam_size", "max_length"):
      if getattr(self, name) < 1:
        raise errors.UserError(f"{name} is {getattr(self, name)}; expected 1 or more")
    if self.version < 0:
      raise errors.UserError(f"version is {self.version}; expected a positive number")


def export(
  run: run_folders.Run, out: files.PathLike, config: ExportConfig | None = None
) -> pathlib.Path:
  """Writes `out/<version>` and returns it.

  Args:
    run: of `runs.load`.
    out: the model's base path, a folder of versions.
    config: options.
  """
  config = config or ExportConfig()
  out = pathlib.Path(out)
  version = config.version or next_version(out)
  folder = out / str(version)
  if folder.exists():
    raise errors.UserError(f"{folder} exists already; choose another --version")
  module = make_module(run, config)
  logging.info("Writing %s", folder)
  with files.atomic_path(folder) as partial:
    signatures = module.signatures()
    save(module, str(partial), signatures)
    requests = warm_up_requests(module, signatures)
    warmup_requests.write(partial, run.kind, requests)
    verify(partial, module)
    card = model_card.text(run, config, version, signatures)
    files.write_text(partial / "MODEL_CARD.md", card)
    run.vocabulary.save(partial / "assets.extra" / "vocabulary.json")
    flush(partial)
  return folder


def flush(folder: pathlib.Path) -> None:
  """Puts a folder on the disk, so that a power cut after the rename finds it whole."""
  for path in (*folder.rglob("*"), folder):
    descriptor = os.open(path, os.O_RDONLY)
    try:
      os.fsync(descriptor)
    finally:
      os.close(descriptor)


def save(
  module: tf.Module,
  folder: str,
  signatures: dict[str, tf.types.experimental.ConcreteFunction],
) -> None:
  """Writes the SavedModel itself, without the names of source files."""
  options = tf.saved_model.SaveOptions(save_debug_info=False)
  tf.saved_model.save(module, folder, signatures=signatures, options=options)


def make_module(
  run: run_folders.Run, config: ExportConfig
) -> "captioner_module.CaptionerModule | matcher_module.MatcherModule":
  """The graph to save, by the kind of the run."""
  if run.kind == "matcher":
    is_noun = thing_words.is_noun(run.vocabulary)
    return matcher_module.MatcherModule(run.model, run.vocabulary, is_noun, config.float16_weights)
  return captioner_module.CaptionerModule(
    run.model,
    run.vocabulary,
    thing_words.is_thing(run.vocabulary, config.object_words or None),
    config.beam_size,
    config.max_length,
    config.float16_weights,
  )


def next_version(out: pathlib.Path) -> int:
  """One more than the largest version there is."""
  if not out.is_dir():
    return 1
  return 1 + max((int(p.name) for p in out.iterdir() if p.name.isdigit()), default=0)


def warm_up_requests(
  module: tf.Module, signatures: dict[str, tf.types.experimental.ConcreteFunction]
) -> list[tuple[str, warmup_requests.Arrays]]:
  """Every signature in every warm-up batch size."""
  return [
    (
      name,
      warmup_requests.example(module.specs(name), pictures, warmup_requests.REGIONS, seed=pictures),
    )
    for name in sorted(signatures)
    for pictures in warmup_requests.BATCHES
  ]


def verify(folder: pathlib.Path, module: tf.Module) -> None:
  """Loads the written version and compares its answers to the warm-up requests.

  Words, boxes and flags must be those of the model in memory, numbers within 1e-4.
  Half-precision weights are compared with themselves, not with the full ones.
  """
  loaded = tf.saved_model.load(str(folder))
  for signature, given in warmup_requests.read(folder):
    tensors = {name: tf.constant(array) for name, array in given.items()}
    found = loaded.signatures[signature](**tensors)
    wanted = module.python_answer(signature, tensors)
    if set(found) != set(wanted):
      raise errors.UserError(
        f"{folder}: signature {signature} answers {sorted(found)}, expected {sorted(wanted)}"
      )
    for name in wanted:
      if not _same(found[name].numpy(), wanted[name].numpy()):
        raise errors.UserError(
          f"{folder}: the saved model's {name} of signature {signature} differs from the "
          "model in memory; the export was not published"
        )


def _same(found: np.ndarray, wanted: np.ndarray) -> bool:
  if found.shape != wanted.shape or found.dtype != wanted.dtype:
    return False
  if found.dtype.kind == "f":
    return bool(np.allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE))
  return bool((found == wanted).all())
