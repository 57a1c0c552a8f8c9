"""A captioner together with the detector that makes its regions of photographs.

The detector is, in this order: the one that the caller names, `RUN/detector` (a packed run has its
own copy there), the one that `regions` of config.json names.
"""

import dataclasses
import pathlib

from absl import logging

from gcap_tf import errors, files
from gcap_tf.runs import detector_runs, region_recipes, run_folders
from gcap_tf.vision import regions
from gcap_tf.vision.detectors import catalog
from gcap_tf.vision.extraction import region_extractor

DETECTOR = "detector"  # folder of a packed run


@dataclasses.dataclass(frozen=True)
class PhotographRun:
  """Attributes:
  run: the captioner.
  detector: finds and describes regions, or describes those of `foreign`.
  recipe: how many regions, and which.
  foreign: `PREFIX:WHAT` of another detector that finds them; "" if ours does.
  """

  run: run_folders.Run
  detector: detector_runs.DetectorRun
  recipe: region_recipes.RegionRecipe
  foreign: str = ""


def load(
  named: files.PathLike | run_folders.Run, detector: str = "", describer: str = ""
) -> PhotographRun:
  """Loads a captioner and its detector.

  Args:
    named: a run folder, a shipped run by its name, or a run that is loaded already.
    detector: takes the place of the run's own; as `trainers.extract_regions --detector`.
    describer: our detector that describes regions of another one; "" takes the run's own.
  """
  run = named
  if not isinstance(named, run_folders.Run):
    run = run_folders.load(named, "captioner")
  recipe = region_recipes.of_run(run)
  wanted = detector or _own(run, recipe)
  foreign = wanted if catalog.is_foreign(wanted) else ""
  if foreign:
    wanted = describer or (_own(run, recipe) if detector else region_recipes.SHIPPED)
    wanted = region_recipes.SHIPPED if catalog.is_foreign(wanted) else wanted
  found = _open(run, wanted)
  columns = regions.RegionMaker(found.detector).columns
  region_recipes.check(recipe, found, columns, str(run.folder))
  if not detector:
    _warn_of_other_weights(run, recipe, found)
  return PhotographRun(run, found, recipe, foreign)


def _own(run: run_folders.Run, recipe: region_recipes.RegionRecipe) -> str:
  packed = run.folder / DETECTOR
  return str(packed) if (packed / "config.json").exists() else recipe.detector


def _open(run: run_folders.Run, named: str) -> detector_runs.DetectorRun:
  if named != region_recipes.SHIPPED and not (pathlib.Path(named) / "config.json").exists():
    raise errors.UserError(
      f"the detector {named}, which made the regions of {run.folder}, is not there; "
      "name it with --detector=RUN"
    )
  return detector_runs.load(named)


def _warn_of_other_weights(run, recipe, found: detector_runs.DetectorRun) -> None:
  if recipe.fingerprint not in ("", region_extractor.fingerprint([found.detector])):
    logging.warning(
      "the detector %s has other weights than the one that made the regions of %s",
      found.folder,
      run.folder,
    )
