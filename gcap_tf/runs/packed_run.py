"""Packs a trained run into a small folder with only what its use needs.

config.json      without folders of the machine that trained it
vocabulary.json  unchanged
weights.npz      the best weights, float16
detector/        of a captioner of photographs: its detector, unless that is the shipped one
metrics.json     the figures of one evaluation, if given
word_classes.json  nouns and things of a captioner's vocabulary, so that captioning needs no tagger
calibration.json   as in the run, if it has one, and its weights are not averaged with others
MODEL_CARD.md    use, limits, data, metrics, licence, training
manifest.json    checksums of options, words and weights
"""

import dataclasses
import json
import os
import pathlib
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from gcap_tf import errors, files, locks
from gcap_tf.runs import (
  card_sections,
  detector_runs,
  packed_manifest,
  packed_weights,
  photograph_runs,
  region_recipes,
  run_answers,
  run_card,
  run_folders,
  run_words,
)
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.vision.extraction import region_extractor

_OF_THE_MACHINE = ("data", "command", "start")
_MOST_STAGES = 20
_OF_A_STAGE = ("model", "method", "training", "averaged_runs", "start_share", "start_stage")
_CONTENT = {
  *("config.json", "vocabulary.json", "MODEL_CARD.md", packed_weights.NAME, run_words.FILE),
  *(packed_manifest.NAME, run_answers.FILE, card_sections.METRICS, photograph_runs.DETECTOR),
}


def pack(
  run: files.PathLike,
  out: files.PathLike,
  figures: dict[str, Any] | None = None,
  evaluated: str = "",
  licence: str = "",
  start_share: float = 0.0,
  detector: str = "",
  others: Sequence[files.PathLike] = (),
) -> int:
  """Writes the folder `out` in one rename; returns its size in bytes.

  Args:
    run: folder of a trained matcher or captioner, or a packed one.
    out: the packed run; an existing one is replaced.
    figures: the figures of an evaluation command.
    evaluated: the data of that evaluation, for the model card.
    licence: licence of the weights; "" states what is known of the dataset's.
    start_share: share of the weights that a fine-tuned run began with, see
      `blend_with_start`.
    detector: of a captioner of photographs, in place of the one that made its regions: "shipped"
      needs no copy.
    others: runs whose weights are averaged with those of `run`, see `average`.
  """
  out = pathlib.Path(out)
  loaded = run_folders.load(run)
  if others:
    average(loaded, [run_folders.load(other, loaded.kind) for other in others])
  start = blend_with_start(loaded, start_share) if start_share else None
  _check_replaceable(out)
  if out.resolve() == loaded.folder.resolve():
    raise errors.UserError(f"--out and --run are both {out}; choose another --out")
  with locks.hold(out), files.atomic_path(out) as partial:
    files.remove_leftovers(out.parent, out.name)
    partial.mkdir()
    config = portable(loaded.config)
    earlier = earlier_stages(loaded.config)
    if earlier:
      config["earlier_stages"] = earlier
    if others:
      config["averaged_runs"] = 1 + len(others)
    if start:
      config["start_share"] = start_share
      config["start_stage"] = len(earlier_stages(start.config)) + 1
    if figures is not None:
      config["evaluated"] = evaluated
      files.write_json(partial / card_sections.METRICS, figures)
    elif (loaded.folder / card_sections.METRICS).exists():
      kept = files.read_json(loaded.folder / card_sections.METRICS, "figures")
      files.write_json(partial / card_sections.METRICS, kept)
    if detector or region_recipes.read(loaded.config):
      config["regions"] = _pack_detector(loaded, detector, partial)
    files.write_sealed_json(partial / "config.json", config)
    loaded.vocabulary.save(partial / "vocabulary.json")
    packed_weights.save(packed_weights.path_of(partial), loaded.model)
    if loaded.kind == "captioner":
      run_words.of(loaded.folder, loaded.vocabulary)  # Asks the tagger now, not the user's.
    for name in (run_words.FILE, *(() if start_share or others else (run_answers.FILE,))):
      if (loaded.folder / name).exists():
        shutil.copyfile(loaded.folder / name, partial / name)
    card = run_card.text(run_folders.load(partial), licence)
    files.write_text(partial / "MODEL_CARD.md", card)
    packed_manifest.write(partial)
  return sum(path.stat().st_size for path in out.rglob("*") if path.is_file())


def _check_replaceable(out: pathlib.Path) -> None:
  """Refuses to replace anything but a packed run, or nothing."""
  if not out.exists():
    return
  if not packed_weights.path_of(out).exists():
    raise errors.UserError(f"{out} exists and is not a packed run; choose another --out")
  foreign = {path.name for path in out.iterdir()} - _CONTENT
  if foreign:
    raise errors.UserError(
      f"{out} holds something that is not of a packed run ({min(foreign)}), which would be lost; "
      "move it away or choose another --out"
    )


def _pack_detector(run: run_folders.Run, detector: str, out: pathlib.Path) -> dict[str, Any]:
  """Copies the detector of a captioner of photographs; returns `regions` of its config.json."""
  found = photograph_runs.load(run, detector)
  recipe, eyes = found.recipe, found.detector
  if eyes.folder != shipped_folders.DETECTOR:
    detector_runs.pack(eyes.folder, out / photograph_runs.DETECTOR)
    eyes = detector_runs.load(out / photograph_runs.DETECTOR)
  named = found.foreign or (
    region_recipes.SHIPPED if eyes.folder == shipped_folders.DETECTOR else eyes.folder.name
  )
  kept = dataclasses.replace(
    recipe,
    detector=named,
    labels=eyes.labels,
    colours=eyes.colours,
    fingerprint=region_extractor.fingerprint([eyes.detector]),
  )
  return kept.to_dict()


def average(run: run_folders.Run, others: Sequence[run_folders.Run]) -> None:
  """Gives a fine-tuned model the mean of its weights and those of others with the same start.

  Runs that began with one run, and differ in seed or options, err in different ways; the mean of
  their weights errs less (Wortsman et al., "Model soups", ICML 2022).
  """
  for other in others:
    if other.vocabulary != run.vocabulary or other.model.config != run.model.config:
      raise errors.UserError(f"{other.folder} is another model than {run.folder}: no mean of them")
    if not run.config.get("start") or other.config.get("start") != run.config["start"]:
      raise errors.UserError(
        f"{other.folder} did not begin with the same run as {run.folder}: no mean of them"
      )
  for variable, *further in zip(
    run.model.variables, *(other.model.variables for other in others), strict=True
  ):
    total = sum((each.value for each in further), start=variable.value)
    variable.assign(total / (1 + len(others)))


def blend_with_start(run: run_folders.Run, share: float) -> run_folders.Run:
  """Gives a fine-tuned model the weights s * start + (1 - s) * tuned; returns the start.

  Fine-tuning forgets; weights between its two ends keep most of what was gained and lose
  little of what was known before (Wortsman et al., "Robust fine-tuning of zero-shot
  models", CVPR 2022). If a run was fine-tuned more than once, the start is the last run that was
  trained on captions.
  """
  if not 0.0 <= share <= 1.0:
    raise errors.UserError(f"start_share is {share:g}; it must be 0 to 1")
  if not run.config.get("start"):
    raise errors.UserError(f"{run.folder} was not fine-tuned from another run: leave start_share 0")
  first = run.config["start"]
  for folder, config in starts(run.config):
    first = folder
    if not config.get("method"):
      break
    first = config.get("start") or folder
  start = run_folders.load(first, run.kind)
  if start.vocabulary != run.vocabulary or start.model.config != run.model.config:
    raise errors.UserError(f"{start.folder} has changed since {run.folder} began with it")
  for tuned, before in zip(run.model.variables, start.model.variables, strict=True):
    tuned.assign(share * before + (1.0 - share) * tuned)
  return start


def portable(config: dict[str, Any]) -> dict[str, Any]:
  """A run's configuration without folders: only the last part of a path is left."""

  def shortened(value: Any) -> Any:
    if isinstance(value, dict):
      return {key: shortened(entry) for key, entry in value.items()}
    if isinstance(value, list):
      return [shortened(entry) for entry in value]
    if isinstance(value, str) and os.sep in value:
      return pathlib.PurePath(value).name
    return value

  kept = {key: value for key, value in config.items() if key not in _OF_THE_MACHINE}
  return {
    key: value if key == "object_classes" else shortened(value) for key, value in kept.items()
  }


def starts(config: dict[str, Any]) -> Iterator[tuple[pathlib.Path, dict[str, Any]]]:
  """Folder and configuration of the runs that this one began with, the nearest first.

  Ends at a folder that no longer exists.
  """
  while config.get("start"):
    folder = shipped_folders.run_folder(config["start"])
    if not (folder / "config.json").exists():
      return
    config = run_folders.read_config(folder)
    yield folder, config


def earlier_stages(config: dict[str, Any]) -> list[dict[str, Any]]:
  """Method and options of the runs that this one began with, the first of them first."""
  found = list(config.get("earlier_stages", ()))
  for _, before in starts(config):
    if len(found) >= _MOST_STAGES:
      break
    stage = {key: before[key] for key in _OF_A_STAGE if key in before}
    found = [*before.get("earlier_stages", ()), portable(stage), *found]
  return found


def read_figures(path: files.PathLike) -> dict[str, Any]:
  """The JSON object of a file: the whole of it, or its last line."""
  try:
    content = pathlib.Path(path).read_text(encoding="utf-8").strip()
  except (FileNotFoundError, UnicodeDecodeError):
    raise errors.UserError(f"figures {path}: the file does not exist or is not text") from None
  for part in (content, content.rpartition("\n")[2]):
    try:
      figures = json.loads(part)
    except json.JSONDecodeError:
      continue
    if isinstance(figures, dict):
      return figures
  raise errors.UserError(
    f"figures {path}: neither the file nor its last line is a JSON object; "
    "give the output of an evaluation command"
  )
