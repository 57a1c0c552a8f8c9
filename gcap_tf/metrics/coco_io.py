"""COCO's caption files: references and results.

references  {"images": [{"id"}], "annotations": [{"image_id", "caption"}]}
results     [{"image_id", "caption"}], one caption per picture
"""

from collections.abc import Mapping
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data import reference_files


def read_references(path: files.PathLike) -> dict[str, list[str]]:
  """Image id -> reference captions, in the order of the file."""
  value = files.read_json(path, "references")
  if not isinstance(value, dict) or not isinstance(value.get("annotations"), list):
    raise errors.UserError(f'references {path}: no list under "annotations"')
  references: dict[str, list[str]] = {}
  for position, row in enumerate(value["annotations"]):
    image, caption = _row(row, f"references {path}, annotation {position}")
    references.setdefault(image, []).append(caption)
  return references


def write_results(path: files.PathLike, captions: Mapping[str, str]) -> None:
  """Writes captions; ids that are whole numbers are written as numbers, as COCO has them."""
  rows = [
    {"image_id": reference_files.number_or_text(image), "caption": caption}
    for image, caption in captions.items()
  ]
  files.write_json(path, rows, indent=None)


def _row(row: Any, where: str) -> tuple[str, str]:
  if not isinstance(row, dict) or not isinstance(row.get("caption"), str):
    raise errors.UserError(f'{where}: no text under "caption"')
  if not isinstance(row.get("image_id"), (str, int)):
    raise errors.UserError(f'{where}: no "image_id"')
  return str(row["image_id"]), row["caption"]
