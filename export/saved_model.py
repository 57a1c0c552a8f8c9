"""Exports a run as a version that can be served, completely or not at all.

The export writes a version under a name that servers ignore, loads it again, compares it
with the model in memory, and then renames it to its number in one step.
"""

import dataclasses
import os
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from export import (
  captioner_module,
  graph_operations,
  matcher_module,
  model_card,
  photograph_module,
  warmup_requests,
)
from gcap_tf import config as configs
from gcap_tf import errors, files, locks
from gcap_tf.runs import photograph_runs, region_recipes, run_answers, run_folders, run_words
from gcap_tf.text import tagging, thing_words

TOLERANCE = 1e-4


@dataclasses.dataclass(frozen=True)
class ExportConfig:
  """Options of an export.

  Attributes:
    version: number of the version; 0 takes the next free one.
    beam_size: number of beams of a captioner's `beam` signature.
    max_length: T, the most words of a caption.
    float16_weights: whether to store the weights in half precision.
    object_words: words that name things; () takes them from the vocabulary (`thing_words`).
    detector: run folder of the detector that a captioner of photographs has in its graph, or
      "shipped"; "" takes the run's own, or none if it was not trained on photographs.
    licence: licence of the weights, for the model card.
    as_published: decodes as released programs do, without the rules of `user_rules`.
  """

  version: configs.Count = 0
  beam_size: configs.PositiveInt = 3
  max_length: configs.PositiveInt = 20
  float16_weights: bool = False
  object_words: tuple[str, ...] = ()
  detector: str = ""
  licence: str = ""
  as_published: bool = False


def export(
  run: run_folders.Run, out: files.PathLike, config: ExportConfig | None = None
) -> pathlib.Path:
  """Writes `out/<version>` and returns it.

  Args:
    run: a run of `run_folders.load`.
    out: base path of the model, a folder of versions.
    config: export options; None for the defaults.
  """
  config = configs.check(config or ExportConfig(), "export")
  out = pathlib.Path(out)
  if (out / "config.json").exists() or (out / "dataset.json").exists():
    raise errors.UserError(f"{out} holds a run or prepared data; choose another --out")
  with locks.hold(out):
    files.remove_leftovers(out)
    return _export(run, out, config)


def _export(run: run_folders.Run, out: pathlib.Path, config: ExportConfig) -> pathlib.Path:
  version = config.version or next_version(out)
  folder = out / str(version)
  if folder.exists():
    raise errors.UserError(f"{folder} exists already; choose another --version")
  module = make_module(run, config)
  logging.info("Writing %s", folder)
  with files.atomic_path(folder) as partial:
    signatures = module.signatures()
    save(module, str(partial), signatures)
    check_operations(partial, module)
    warmup_requests.write(partial, run.kind, example_requests(module, signatures))
    verify(partial, module)
    card = model_card.text(run, config, version, signatures)
    files.write_text(partial / "MODEL_CARD.md", card)
    run.vocabulary.save(partial / "assets.extra" / "vocabulary.json")
    flush(partial)
  return folder


def flush(folder: pathlib.Path) -> None:
  """Syncs a folder to the disk, so that it is complete after a power cut."""
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
  """Writes the SavedModel itself, without debug information."""
  options = tf.saved_model.SaveOptions(save_debug_info=False)
  tf.saved_model.save(module, folder, signatures=signatures, options=options)


def check_operations(folder: pathlib.Path, module: tf.Module) -> None:
  """A `UserError` if a graph that should load anywhere has operations that are not core ones."""
  found = graph_operations.not_portable(folder) if module.loads_anywhere else ()
  if found:
    raise errors.UserError(
      f"{folder}: the graph has operations that TensorFlow without our packages may lack: "
      f"{', '.join(found)}; the export was not published"
    )


def make_module(
  run: run_folders.Run, config: ExportConfig
) -> "captioner_module.CaptionerModule | matcher_module.MatcherModule":
  """Returns the graph to save for the kind of the run."""
  if run.kind == "matcher":
    scored = run.model.noun_tags or tagging.NOUN_TAGS
    is_noun = thing_words.is_noun(run.vocabulary, scored)
    return matcher_module.MatcherModule(run.model, run.vocabulary, is_noun, config.float16_weights)
  of_videos = run.kind == "captioner" and run.model.num_frames > 1
  if of_videos and config.detector:
    raise errors.UserError(
      f"{run.folder} captions videos: its export reads regions of frames, and no --detector"
    )
  if config.detector or (region_recipes.read(run.config) and not of_videos):
    photographs = photograph_runs.load(run, config.detector)
    if not photographs.foreign:
      return make_photograph_module(photographs, config)
    logging.warning(
      "%s is not a TensorFlow graph of ours: the export reads regions only; --detector=RUN gives "
      "it a detector",
      photographs.foreign,
    )
  return captioner_module.CaptionerModule(
    run.model, run.vocabulary, **_captioner_options(run, config)
  )


def make_photograph_module(
  photographs: photograph_runs.PhotographRun, config: ExportConfig, webp: bool = False
) -> photograph_module.PhotographModule:
  """The graph of a captioner with its detector; see there for `webp`."""
  options = _captioner_options(photographs.run, config)
  return photograph_module.PhotographModule(photographs, webp=webp, **options)


def _captioner_options(run: run_folders.Run, config: ExportConfig) -> dict[str, Any]:
  classes = run_words.of(run.folder, run.vocabulary)
  is_thing = classes.is_thing(run.vocabulary)
  rules = run_answers.rules(run)
  if config.object_words:
    is_thing = thing_words.is_thing(run.vocabulary, config.object_words)
  return {
    "is_thing": is_thing,
    "beam_size": config.beam_size,
    "max_length": config.max_length,
    "float16": config.float16_weights,
    "classes": None if config.as_published else classes,
    "calibration": rules.calibration,
    "pointing": None if config.as_published else rules.pointing,
  }


def next_version(out: pathlib.Path) -> int:
  """Returns one more than the largest version of a folder."""
  if not out.is_dir():
    return 1
  return 1 + max((int(p.name) for p in out.iterdir() if p.name.isdigit()), default=0)


def example_requests(
  module: tf.Module, signatures: dict[str, tf.types.experimental.ConcreteFunction]
) -> list[tuple[str, warmup_requests.Arrays]]:
  """Returns warm-up requests: every signature in every warm-up batch size."""
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

  Words, boxes and flags must equal those of the model in memory; numbers may differ by
  1e-4. Both sides use the half-precision weights if the export stores those.
  """
  loaded = tf.saved_model.load(str(folder))
  for signature, inputs in warmup_requests.read(folder):
    tensors = {name: tf.constant(array) for name, array in inputs.items()}
    found = loaded.signatures[signature](**tensors)
    wanted = module.python_answer(signature, tensors)
    if set(found) != set(wanted):
      raise errors.UserError(
        f"{folder}: signature {signature} answers {sorted(found)}, expected {sorted(wanted)}"
      )
    for name in wanted:
      if not _same(found[name].numpy(), wanted[name].numpy()):
        raise errors.UserError(
          f"{folder}: output {name} of signature {signature} differs between the saved model "
          "and the model in memory; the export was not published"
        )


def _same(found: np.ndarray, wanted: np.ndarray) -> bool:
  if found.shape != wanted.shape or found.dtype != wanted.dtype:
    return False
  if found.dtype.kind == "f":
    return bool(np.allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE))
  return bool((found == wanted).all())
