"""The shipped captioners as SavedModels.

The package has the SavedModel of the captioner of labels. That of the captioner of photographs
would repeat 20 MB of weights, so it is exported on first use, to the cache folder of the user.
The name of its folder is a hash of the weights and of the program, so it is never out of date.
"""

import hashlib
import importlib.metadata
import pathlib

from absl import logging

from export import saved_model
from gcap_tf import files
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.shipped import folders

_TOP = pathlib.Path(__file__).resolve().parent.parent
_PROGRAM = ("gcap_tf", "export")


def base_path(named: str = folders.NAME) -> pathlib.Path:
  """Base path of the SavedModel of a shipped captioner; exports it if it is not there yet."""
  if named != folders.NAME:
    return folders.model_folder()
  cached = files.cache_folder() / "models" / _fingerprint()
  if not (cached / "1" / "saved_model.pb").exists():
    logging.info("Exporting the shipped captioner to %s (once, about half a minute)", cached)
    _export(cached)
  return cached


def _export(cached: pathlib.Path) -> None:
  run = run_folders.load(folders.NAME, "captioner")
  length = captioner_evaluation.max_length(run)
  config = saved_model.ExportConfig(version=1, max_length=length, float16_weights=True)
  saved_model.export(run, cached, config)


def _fingerprint() -> str:
  """Changes with the weights, with the program, and with TensorFlow."""
  found = hashlib.sha256(importlib.metadata.version("tensorflow").encode())
  for folder in (folders.run_folder(folders.NAME), folders.detector_folder(folders.NAME)):
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
      found.update(files.sha256(path).encode())
  for top in _PROGRAM:
    for path in sorted((_TOP / top).rglob("*.py")):
      found.update(path.read_bytes())
  return found.hexdigest()[:16]
