"""How photographs become the regions that a run reads: `regions` of its config.json.

    {"name": "pictures", "detector": "shipped", "regions": 36, "min_score": 0.0,
     "columns": {"map_8": [0, 40], ...}, "labels": [...], "colours": [...], "fingerprint": "c5"}

Training copies it from the prepared data, which has it from the extraction. Which numbers a region
has, and how they are standardised, follows from the detector (`vision/regions.py`); `columns`,
`labels` and `colours` are there to recognise a detector that would make others.
"""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data.stores import extracted_store
from gcap_tf.runs import detector_runs, run_folders

SHIPPED = "shipped"
# A captioner of labelled boxes learned from what people drew: few boxes, and sure ones.
LABELLED_REGIONS, LABELLED_MIN_SCORE = 12, 0.35


@dataclasses.dataclass(frozen=True)
class RegionRecipe:
  """Attributes:
  detector: "shipped", a run folder, or `PREFIX:WHAT` of another detector.
  regions: most regions of a picture.
  min_score: leaves out regions that are scored lower; the best one always stays.
  columns: part of a feature -> [first column, one past the last]; {} if any will do.
  labels, colours: words of the detector; () if any will do.
  fingerprint: of the weights that made the regions; "" if unknown, or if several detectors
    shared the work (cross-fitting).
  square: of clips, whether both sides of a box are divided by the frame's width.
  """

  detector: str = SHIPPED
  regions: int = 36
  min_score: float = 0.0
  columns: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
  labels: tuple[str, ...] = ()
  colours: tuple[str, ...] = ()
  fingerprint: str = ""
  square: bool = False

  def to_dict(self) -> dict[str, Any]:
    """As config.json has it."""
    return {"name": "pictures", **dataclasses.asdict(self)}


def of_run(run: run_folders.Run) -> RegionRecipe:
  """The recipe of a run; a `UserError` if photographs cannot become its regions."""
  found = read(run.config)
  if found is not None:
    return found
  size, labels = run.model.config.feature_size, run.model.config.num_labels
  if not size and labels:
    return RegionRecipe(regions=LABELLED_REGIONS, min_score=LABELLED_MIN_SCORE)
  raise errors.UserError(
    f"{run.folder} was trained on regions of {size} features, and does not say which detector "
    "makes them of a photograph; caption a region store with it (--regions=DIR), or train it on "
    "data that was prepared with --regions=pictures"
  )


def read(config: Mapping[str, Any]) -> RegionRecipe | None:
  """What a run's configuration says, else what its data says; None if neither does."""
  for record in (config.get("regions"), _of_data(config.get("data"))):
    if record and "columns" in record:
      return _recipe(record)
  return None


def _of_data(folder: str | None) -> Mapping[str, Any] | None:
  """What prepared data says; older data that was made of a store leads to the store."""
  path = pathlib.Path(folder or "") / "dataset.json"
  if not folder or not path.exists():
    return None
  record = files.read_json(path, "dataset description").get("detector", {})
  store = pathlib.Path(record.get("path", ""))
  if "columns" not in record and record.get("path") and (store / extracted_store.INFO).is_file():
    return extracted_store.read_info(store).recipe(record.get("max_regions", 0))
  return record


def _recipe(record: Mapping[str, Any]) -> RegionRecipe:
  first, _, folds = record["detector"].partition(",")
  return RegionRecipe(
    detector=first,
    regions=record["regions"],
    min_score=record["min_score"],
    columns=record["columns"],
    labels=tuple(record["labels"]),
    colours=tuple(record["colours"]),
    fingerprint="" if folds else record["fingerprint"],
    square=record.get("square", False),
  )


def check(
  recipe: RegionRecipe,
  found: detector_runs.DetectorRun,
  columns: Mapping[str, Sequence[int]],
  run: str,
) -> None:
  """A `UserError` if a detector makes regions that the run was not trained on.

  Args:
    recipe: of the run.
    found: the detector.
    columns: of the features that it makes.
    run: what errors call the run.
  """
  same = {name: list(ends) for name, ends in columns.items()} == {
    name: list(ends) for name, ends in recipe.columns.items()
  }
  words = recipe.labels in ((), found.labels) and recipe.colours in ((), found.colours)
  if (recipe.columns and not same) or not words:
    raise errors.UserError(
      f"the detector {found.folder} makes other regions than those that {run} was trained on "
      f"({'other words' if same else 'features of another make'}); name its own detector with "
      "--detector=RUN"
    )
