"""What self-critical and contrastive runs have in common: they begin with another run.

The new run folder holds the start's vocabulary and model options, so nothing needs the
start's folder once the run has ended.
"""

import pathlib
import sys
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import caption_validation, captioner_evaluation
from gcap_tf.runs import run_folders, run_logs
from gcap_tf.training import strategies


def open_start(
  start: str, data: prepared_data.PreparedData, folder: files.PathLike
) -> run_folders.Run:
  """The captioner to begin with: its best weights; data and folder are checked against it.

  Departure: the released programs begin with the last weights and Adam's moments.
  """
  if not start:
    raise errors.UserError("name the captioner to begin with: --start=RUN")
  if pathlib.Path(start).resolve() == pathlib.Path(folder).resolve():
    raise errors.UserError(f"--start and --run are both {start}; choose another folder for --run")
  run = run_folders.load(start, "captioner")
  captioner_evaluation.check_regions(run.model, data.split("train"))
  _check_same_start(run.folder, folder)
  return run


def _check_same_start(start: pathlib.Path, folder: files.PathLike) -> None:
  path = pathlib.Path(folder) / "config.json"
  if not path.exists():
    return
  before = files.read_json(path, "run configuration").get("start")
  if before is None or pathlib.Path(before).resolve() != start.resolve():
    raise errors.UserError(
      f"{folder} holds another run (begun with {before or 'nothing'}, not with {start}); "
      "choose another folder for --run"
    )


def write_config(
  folder: files.PathLike,
  start: run_folders.Run,
  config: Any,
  data: prepared_data.PreparedData,
  method: str,
) -> None:
  """Writes config.json and the start's vocabulary into the new run."""
  run_folders.write_config(
    folder,
    "captioner",
    start.name,
    start.model.config,
    start.vocabulary,
    {
      "training": configs.to_dict(config),
      "method": method,
      "start": str(start.folder),
      "data": str(data.folder),
      "dataset": data.name,
      "object_classes": list(data.object_classes),
      "command": " ".join(sys.argv),
    },
  )


def max_words(start: run_folders.Run, asked: int) -> int:
  """Words that captions are cut to: what is asked for, else what the start was trained with."""
  return asked or int(start.config.get("training", {}).get("max_words", 0)) or 16


def validation(
  start: run_folders.Run, data: prepared_data.PreparedData
) -> caption_validation.Validation:
  split = data.split("val") if "val" in data.splits else None
  return caption_validation.Validation(start.model, start.vocabulary, split)


def record_start(folder: files.PathLike, validate: caption_validation.Validation) -> None:
  """Writes the start's own validation figures as step 0, once."""
  chief = strategies.worker_of_environment().is_chief
  log = run_logs.MetricsLog(pathlib.Path(folder) / "metrics.jsonl", chief)
  if log.path.exists() and log.path.read_text(encoding="utf-8").startswith('{"step": 0,'):
    return
  figures = validate()
  if figures:
    print("the start: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    log.append({"step": 0, **{f"val_{name}": value for name, value in figures.items()}})
