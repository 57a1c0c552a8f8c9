"""The run that self-critical and contrastive runs begin with.

The new run folder holds the start's vocabulary and model options, so the start's folder is
not needed once the run has ended.
"""

import pathlib

from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import caption_validation, captioner_evaluation
from gcap_tf.runs import run_folders, run_logs
from gcap_tf.training import loop_options, run_files, strategies


def open_start(
  start: str, data: prepared_data.PreparedData, folder: files.PathLike
) -> run_folders.Run:
  """Loads the captioner to begin with, with its best weights; checks data and folder.

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
  before = files.read_sealed_json(path, "run configuration").get("start")
  if before is None or pathlib.Path(before).resolve() != start.resolve():
    raise errors.UserError(
      f"{folder} holds another run (begun with {before or 'nothing'}, not with {start}); "
      "choose another folder for --run"
    )


def check(
  folder: files.PathLike,
  start: run_folders.Run,
  config: loop_options.LoopOptions,
  data: prepared_data.PreparedData,
  method: str,
  override: bool = False,
) -> run_files.TrainingRecord:
  """The record of the new run, with the start's vocabulary; see `run_files.check`."""
  return run_files.check(
    folder,
    "captioner",
    start.name,
    start.model,
    start.vocabulary,
    config,
    data,
    override,
    method=method,
    start=str(start.folder),
    object_classes=list(data.object_classes),
  )


def max_words(start: run_folders.Run, given: int) -> int:
  """Words that captions are cut to: the given limit, or that of the start's training."""
  return given or int(start.config.get("training", {}).get("max_words", 0)) or 16


def validation(
  start: run_folders.Run, data: prepared_data.PreparedData
) -> caption_validation.Validation:
  """Validation of the captioner on the data's split "val"."""
  split = data.split("val") if "val" in data.splits else None
  return caption_validation.Validation(start.model, start.vocabulary, split)


def record_start(folder: files.PathLike, validation: caption_validation.Validation) -> None:
  """Writes the start's own validation figures as step 0, once."""
  chief = strategies.worker_of_environment().is_chief
  log = run_logs.MetricsLog(pathlib.Path(folder) / "metrics.jsonl", chief)
  if log.path.exists() and log.path.read_text(encoding="utf-8").startswith('{"step": 0,'):
    return
  figures = validation()
  if figures:
    print("the start: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    log.append({"step": 0, **{f"val_{name}": value for name, value in figures.items()}})
