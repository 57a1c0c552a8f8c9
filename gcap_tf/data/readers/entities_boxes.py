"""The box files of Flickr30k Entities: `Annotations/ID.xml`.

An object has one or more `name`s, the coreference chains that it belongs to, and
either one `bndbox` or the flags `scene` and `nobndbox`. Coordinates on disk count
from 1; here they count from 0.
"""

import dataclasses
from xml.etree import ElementTree

import numpy as np

from gcap_tf import box_geometry, errors

_FARTHEST = 1e6
_EDGES = ("xmin", "ymin", "xmax", "ymax")


@dataclasses.dataclass(frozen=True)
class EntityBoxes:
  """The content of one XML file.

  Attributes:
    width: of the picture, pixels.
    height: of the picture, pixels.
    boxes_px: [n, 4] float32, 0-based.
    chains: for each box the chains that it belongs to, as listed.
    rows: chain -> rows of `boxes_px`, for chains that have boxes.
    unboxed: chains of the scene as a whole, or without a box.
    clipped: how many boxes reached over the picture's edge and were cut there.
  """

  width: int
  height: int
  boxes_px: np.ndarray
  chains: tuple[tuple[str, ...], ...]
  rows: dict[str, list[int]]
  unboxed: frozenset[str]
  clipped: int

  def of(self, chain: str) -> np.ndarray:
    """[n, 4] boxes of a chain, n = 0 if it has none."""
    return self.boxes_px[self.rows.get(chain, [])]


def parse(xml: bytes, where: str) -> EntityBoxes:
  """Parses one XML file.

  A box that leaves the picture in part is cut at its edge and counted.

  Raises:
    UserError: broken XML, a picture without size, an object without name, a box that
      is wholly outside the picture or has no area.
  """
  try:
    root = ElementTree.fromstring(xml)
  except (ElementTree.ParseError, LookupError, ValueError) as error:
    raise errors.UserError(f"{where}: broken XML ({error}); fetch the file again") from None
  width, height = (_number(root.find(f"size/{side}"), where, side) for side in ("width", "height"))
  if width < 1 or height < 1:
    raise errors.UserError(f"{where}: a picture of {width} x {height} pixels; correct its <size>")

  edges, chains, unboxed = [], [], set()
  for number, entry in enumerate(root.iter("object"), 1):
    names = tuple(name.text.strip() for name in entry.iterfind("name") if name.text)
    if not names:
      raise errors.UserError(f"{where}: object {number} has no <name>; give it its chain")
    box = entry.find("bndbox")
    if box is None:
      unboxed.update(names)
    else:
      edges.append([_number(box.find(edge), where, edge, number) for edge in _EDGES])
      chains.append(names)

  boxes_px = np.array(edges, np.float32).reshape(-1, 4) - 1
  clipped = box_geometry.clip(boxes_px, width, height)
  _check_boxes(boxes_px, clipped, width, height, where)
  rows: dict[str, list[int]] = {}
  for row, names in enumerate(chains):
    for name in names:
      rows.setdefault(name, []).append(row)
  return EntityBoxes(
    width=width,
    height=height,
    boxes_px=clipped,
    chains=tuple(chains),
    rows=rows,
    unboxed=frozenset(unboxed - rows.keys()),
    clipped=int((clipped != boxes_px).any(axis=1).sum()),
  )


def _number(
  element: ElementTree.Element | None, where: str, name: str, number: int | None = None
) -> int:
  text = (element.text or "").strip() if element is not None else ""
  try:
    value = float(text)
  except ValueError:
    value = np.inf
  if not abs(value) < _FARTHEST:
    of = "" if number is None else f" of object {number}"
    found = f"is {text!r}" if element is not None else "is missing"
    raise errors.UserError(f"{where}: <{name}>{of} {found}; expected a whole number")
  return round(value)


def _check_boxes(
  boxes_px: np.ndarray, clipped: np.ndarray, width: int, height: int, where: str
) -> None:
  empty = np.flatnonzero(box_geometry.area(clipped) <= 0)
  if not len(empty):
    return
  on_disk = [round(float(edge)) + 1 for edge in boxes_px[empty[0]]]
  fault = "has no area" if box_geometry.area(boxes_px[empty[0]]) <= 0 else "is outside the picture"
  raise errors.UserError(
    f"{where}: box {on_disk} {fault} ({width} x {height} pixels); "
    "correct the box, or mark the object <nobndbox>1</nobndbox>"
  )
