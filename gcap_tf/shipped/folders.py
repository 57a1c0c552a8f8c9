"""Where the captioner that comes with the package is kept.

run/    a packed run: what `--run=shipped` names
detector/  the packed run of our detector: what `--run=shipped` names where a detector is asked for
model/  the same weights as a SavedModel, model/1: what a server serves by default
"""

# bazel: data = [":files"]

import pathlib

from gcap_tf import errors, files

NAME = "shipped"
RUN = pathlib.Path(__file__).with_name("run")
MODEL = pathlib.Path(__file__).with_name("model")
DETECTOR = pathlib.Path(__file__).with_name("detector")


def run_folder(named: files.PathLike) -> pathlib.Path:
  """The run folder that a user named: a path, or the shipped one by its name."""
  if str(named) != NAME:
    return pathlib.Path(named)
  return _present(RUN, "config.json", f"--run={NAME} names the captioner that comes with it; ")


def work_folder(run: pathlib.Path) -> pathlib.Path:
  """Where a tool may keep what it computed with a run: the run's folder, never the package."""
  return pathlib.Path(NAME) if run == RUN else run


def detector_folder(named: files.PathLike) -> pathlib.Path:
  """The run folder of a detector that a user named: a path, or the shipped one by its name."""
  if str(named) != NAME:
    return pathlib.Path(named)
  if not (DETECTOR / "config.json").exists():
    raise errors.UserError(
      f"this copy of gcap_tf has no shipped detector ({DETECTOR} is not complete); install the "
      "package whole, or name a run folder of your own"
    )
  return DETECTOR


def model_folder() -> pathlib.Path:
  """Base path of the shipped SavedModel."""
  return _present(MODEL, "1/saved_model.pb", "")


def _present(folder: pathlib.Path, part: str, why: str) -> pathlib.Path:
  if not (folder / part).exists():
    raise errors.UserError(
      f"this copy of gcap_tf has no shipped captioner ({folder / part} is missing); {why}"
      "install the package whole, or name a folder of your own"
    )
  return folder
