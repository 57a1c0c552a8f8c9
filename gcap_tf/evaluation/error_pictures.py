"""Photographs with words that are grounded right, partly or wrongly (Distributed, Figure 5).

The kinds are those of `metrics/errors.py`: correct, partial (the region lies inside the annotated
box), enlarged (around it) and deviated (neither). The annotated box is thin, the region coloured.
"""

import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from gcap_tf import errors, files
from gcap_tf.metrics import overlap, results_io
from gcap_tf.vision import pictures as photographs
from gcap_tf.visuals import draw, region_pictures

KINDS = ("correct", "partial", "enlarged", "deviated")
SHOWN = 6
_IOU = 0.5
_SUFFIXES = (".jpg", ".jpeg", ".png")

# Word, region, annotated box; both in pixels.
Example = tuple[str, str, np.ndarray, np.ndarray]


def kind_of(region: np.ndarray, annotated: np.ndarray) -> str:
  """The kind of a rightly named word."""
  if overlap.pixel_iou(region, annotated) > _IOU:
    return "correct"
  if overlap.inside(region, annotated):
    return "partial"
  return "enlarged" if overlap.inside(annotated, region) else "deviated"


def examples(
  references: Sequence[results_io.Reference], predictions: results_io.Predictions
) -> dict[str, list[Example]]:
  """Kind -> (image id, class, region, annotated box) of rightly named words, one a picture."""
  found: dict[str, list[Example]] = {kind: [] for kind in KINDS}
  for reference in references:
    seen = set()
    for caption in predictions.get(reference.image_id, ()):
      for name, region in zip(caption.classes, caption.boxes_px, strict=True):
        annotated = _annotated(reference, name)
        if annotated is None or (kind := kind_of(region, annotated)) in seen:
          continue
        seen.add(kind)
        found[kind].append((reference.image_id, name, region, annotated))
  return found


def _annotated(reference: results_io.Reference, name: str) -> np.ndarray | None:
  """The first annotated box of a class in any sentence of a picture."""
  for sentence in reference.captions:
    if name in sentence.classes:
      return sentence.boxes_px[sentence.classes.index(name)]
  return None


def write(
  out: files.PathLike,
  folder: files.PathLike,
  sizes: Mapping[str, tuple[float, float]],
  found: Mapping[str, Sequence[Example]],
  shown: int = SHOWN,
) -> list[pathlib.Path]:
  """Writes OUT/KIND.jpg, a sheet of photographs each; returns the files.

  Args:
    out: folder to write to.
    folder: the photographs, ID.jpg or ID.png; pictures without one are passed over.
    sizes: image id -> width and height of the pixels that boxes are in.
    found: from `examples`.
    shown: photographs of a kind.
  """
  if not pathlib.Path(folder).is_dir():
    raise errors.UserError(f"{folder} is not a folder of photographs")
  written = []
  for kind, words in found.items():
    drawn = []
    for image_id, name, region, annotated in words:
      path = _photograph(pathlib.Path(folder), image_id)
      if path is not None and len(drawn) < shown:
        scale = np.array([*sizes[image_id]] * 2, np.float32)
        picture, boxes = photographs.read(path), (region / scale)[None]
        drawn.append(
          region_pictures.regions(picture, boxes, [name], (annotated / scale)[None], image_id)
        )
    if drawn:
      written.append(pathlib.Path(out) / f"{kind}.jpg")
      with files.atomic_path(written[-1]) as partial:
        draw.sheet(drawn, 3).save(partial, "JPEG", quality=90)
  return written


def _photograph(folder: pathlib.Path, image_id: str) -> pathlib.Path | None:
  paths = (folder / f"{image_id}{suffix}" for suffix in _SUFFIXES)
  return next((path for path in paths if path.is_file()), None)
