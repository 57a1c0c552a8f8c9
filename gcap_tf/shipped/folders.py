"""Where the models that come with the package are kept.

| name             | packed run     | SavedModel               | what it captions             |
|------------------|----------------|--------------------------|------------------------------|
| `shipped`        | `photographs/` | export/shipped_models.py | photographs                  |
| `shipped_labels` | `run/`         | `model/1`                | labelled boxes of a detector |

detector/  the packed run of our detector: what `shipped` names where a detector is asked for
"""

# bazel: data = [":files"]

import pathlib

from gcap_tf import errors, files

NAME, LABELS = "shipped", "shipped_labels"
_HERE = pathlib.Path(__file__).parent
RUN, MODEL = _HERE / "run", _HERE / "model"
PHOTOGRAPHS = _HERE / "photographs"
DETECTOR = _HERE / "detector"


def run_folder(named: files.PathLike) -> pathlib.Path:
  """The run folder that a user named: a path, or a shipped one by its name."""
  folder = {NAME: PHOTOGRAPHS, LABELS: RUN}.get(str(named))
  if folder is None:
    return pathlib.Path(named)
  return _present(folder, "config.json", f"--run={named} names the captioner that comes with it; ")


def work_folder(run: pathlib.Path) -> pathlib.Path:
  """Where a tool may keep what it computed with a run: the run's folder, never the package."""
  names = {RUN: LABELS, PHOTOGRAPHS: NAME}
  return pathlib.Path(names[run]) if run in names else run


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
  """Base path of the SavedModel of the captioner of labels."""
  return _present(MODEL, "1/saved_model.pb", "")


def _present(folder: pathlib.Path, part: str, why: str) -> pathlib.Path:
  if not (folder / part).exists():
    raise errors.UserError(
      f"this copy of gcap_tf has no shipped captioner ({folder / part} is missing); {why}"
      "install the package whole, or name a folder of your own"
    )
  return folder
