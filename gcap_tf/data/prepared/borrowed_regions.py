"""Regions of annotated pictures without pixels, borrowed from photographs that are at hand.

A picture that is not at hand still has captions, and boxes with phrases. For each of its boxes
this module takes regions that the detector found on a photograph, at a box that phrases call the
same (of the same colour, if they name one). So their features, labels, colours and objectness are
those of a detector, with its usual mistakes; `labelled_regions` draws labels that are right.

    donor       the photograph that shares the most names with the picture, weighted by rarity
    of a box    the donor's regions at a box of that name; if it has none, those of another
                photograph; if no photograph has any, none
    others      the donor's regions at no annotated box, and its feature of the whole picture
    geometry    a region lies in the box as it lay in the other one, and what its feature says of
                its place is computed again

The names of boxes are supervision of the same kind as for the detector (`vision/annotations.py`).
Which word of a caption belongs to which box is not in these regions.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gcap_tf import box_geometry
from gcap_tf import config as configs
from gcap_tf.data import records
from gcap_tf.data.prepared import labelled_regions
from gcap_tf.data.stores import feature_folders
from gcap_tf.vision import annotations

_OVERLAP = 0.5  # A region at least so close to an annotated box shows it.
_BACKGROUND = 0.3  # A region less close to every annotated box shows none of them.
_NO_COLOUR = -1
_TRIES = 8  # Draws of a place that no box of the picture has yet.

Key = tuple[int, int]  # label and colour


@dataclasses.dataclass(frozen=True)
class BorrowConfig:
  """Which regions are borrowed.

  Attributes:
    copies: most regions of one box.
    donors: the donor is one of this many photographs that share the most names.
    seed: of all draws.
  """

  copies: configs.PositiveInt = 3
  donors: configs.PositiveInt = 10
  seed: configs.Seed = 1


@dataclasses.dataclass(frozen=True, eq=False)
class Shown:
  """What the regions of one photograph show.

  Attributes:
    image_id: of the photograph.
    boxes: [n, 4] float32, its annotated boxes that have a name, from 0 to 1.
    keys: label and colour of each.
    rows: regions that show each box, best first.
    background: regions that show no annotated box.
  """

  image_id: str
  boxes: np.ndarray
  keys: Sequence[Key]
  rows: Sequence[np.ndarray]
  background: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Bank:
  """The photographs that lend regions.

  Attributes:
    shown: of each photograph.
    places: for each (label, colour), and for each (label, no colour): photograph and box.
    names: [P, L] bool, which labels each photograph has.
    rarity: [L], ln(P / photographs with the label).
  """

  shown: Sequence[Shown]
  places: Mapping[Key, np.ndarray]
  names: np.ndarray
  rarity: np.ndarray


def bank(
  pictures: Iterable[annotations.Picture],
  boxes_01: Iterable[np.ndarray],
  labels: int,
) -> Bank:
  """What photographs can lend.

  Args:
    pictures: the annotation of each.
    boxes_01: [R, 4] the regions of each.
    labels: L.
  """
  shown = [_shown(picture, found) for picture, found in zip(pictures, boxes_01, strict=True)]
  places: dict[Key, list[tuple[int, int]]] = {}
  names = np.zeros((len(shown), labels), bool)
  for number, picture in enumerate(shown):
    for box, (label, colour) in enumerate(picture.keys):
      names[number, label] = True
      if len(picture.rows[box]):
        for key in {(label, colour), (label, _NO_COLOUR)}:
          places.setdefault(key, []).append((number, box))
  rarity = np.log(max(len(shown), 1) / np.maximum(names.sum(0), 1))
  return Bank(shown, {key: np.array(found) for key, found in places.items()}, names, rarity)


def _shown(picture: annotations.Picture, regions_01: np.ndarray) -> Shown:
  named, keys = _named(picture)
  overlap = box_geometry.iou(picture.boxes, regions_01)
  best_first = np.argsort(-overlap, axis=1, kind="stable")
  rows = [
    order[row[order] > _OVERLAP]
    for order, row, has_name in zip(best_first, overlap, named, strict=True)
    if has_name
  ]
  background = np.flatnonzero(overlap.max(0, initial=0.0) < _BACKGROUND)
  return Shown(picture.image_id, picture.boxes[named], keys, rows, background)


def _named(picture: annotations.Picture) -> tuple[np.ndarray, list[Key]]:
  """Which boxes have a name, bool [n], and the commonest label and colour of each of these."""
  has_name = picture.words.sum(1) > 0
  colours = np.where(picture.colours.sum(1) > 0, picture.colours.argmax(1), _NO_COLOUR)
  labels = picture.words.argmax(1)
  keys = [(int(labels[row]), int(colours[row])) for row in np.flatnonzero(has_name)]
  return has_name, keys


@dataclasses.dataclass(frozen=True, eq=False)
class BorrowedRegions:
  """Makes regions of records; can be pickled.

  Attributes:
    labelled: makes regions where nothing can be borrowed, and says how features are laid out.
    bank: the photographs.
    store: their regions.
    config: which are borrowed.
  """

  labelled: labelled_regions.LabelledRegions
  bank: Bank
  store: feature_folders.FolderStore
  config: BorrowConfig

  def of(self, record: records.Record) -> records.Regions:
    """The regions of a picture, the surest first."""
    config, info = self.config, self.labelled.info
    picture = annotations.of_record(record, self.labelled.classes)
    named, keys = _named(picture)
    rng = records.generator(record.image_id, config.seed)
    donor = self._donor(keys, rng)
    sides = np.tile([record.width, record.height], 2)
    taken: list[tuple[np.ndarray, records.Regions, np.ndarray]] = []
    used: set[tuple[int, int]] = set()
    given = self.bank.shown[donor]
    own = regions_of(self.store, given.image_id)
    for box, key in zip(picture.boxes[named], keys, strict=True):
      place = self._place(key, donor, used, rng)
      if place is None:
        continue
      used.add(place)
      lender, row = self.bank.shown[place[0]], place[1]
      lent, lent_boxes = own if place[0] == donor else regions_of(self.store, lender.image_id)
      rows = lender.rows[row][: config.copies]
      moved = _moved(lent_boxes[rows], lender.boxes[row], box)
      taken.append((moved * sides, lent, rows))
    lent, lent_boxes = own
    room = info.regions - sum(len(rows) for *_, rows in taken)
    background = given.background[: max(room, 0)]
    taken.append((lent_boxes[background] * sides, lent, background))
    if not sum(len(rows) for *_, rows in taken):
      return self.labelled.of(record)
    joined = _joined(taken, info.regions)
    first, end = info.columns["geometry"]
    joined.features[:, first:end] = self.labelled.geometry(
      joined.boxes_px, record.width, record.height
    )
    return dataclasses.replace(
      joined,
      features=joined.features.astype(np.float16).astype(np.float32),
      global_feature=lent.global_feature,
      grid_features=lent.grid_features,
    )

  def describe(self) -> dict:
    """How the regions were made, for dataset.json."""
    return {"borrowed": configs.to_dict(self.config)}

  def _donor(self, keys: Sequence[Key], rng: np.random.Generator) -> int:
    """One of the photographs that share the most names with the picture."""
    wanted = np.zeros(self.bank.names.shape[1])
    wanted[[label for label, _ in keys]] = 1
    shared = self.bank.names @ (wanted * self.bank.rarity)
    best = np.argsort(-shared, kind="stable")[: self.config.donors]
    return int(rng.choice(best))

  def _place(
    self, key: Key, donor: int, used: set[tuple[int, int]], rng: np.random.Generator
  ) -> tuple[int, int] | None:
    """Photograph and box that lend the regions of a box, the donor's if it can; or None."""
    given = self.bank.shown[donor]
    for label, colour in (key, (key[0], _NO_COLOUR)):
      places = self.bank.places.get((label, colour))
      if places is None:
        continue
      own = [
        (donor, box)
        for box, name in enumerate(given.keys)
        if name[0] == label and colour in (name[1], _NO_COLOUR)
        if len(given.rows[box]) and (donor, box) not in used
      ]
      if own:
        return own[rng.integers(len(own))]
      drawn = [tuple(map(int, place)) for place in places[rng.integers(len(places), size=_TRIES)]]
      return next((place for place in drawn if place not in used), drawn[0])
    return None


def regions_of(
  store: feature_folders.FolderStore, image_id: str
) -> tuple[records.Regions, np.ndarray]:
  """The regions of a photograph, and their boxes [R, 4] from 0 to 1."""
  width, height = store.size(image_id)
  regions = store.get(image_id, width, height)
  return regions, box_geometry.normalise(regions.boxes_px, width, height)


def _moved(boxes: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
  """Boxes [R, 4] that lie in `after` as they lay in `before`, cut at the picture's edges."""
  corner, side = np.tile(before[:2], 2), np.tile(before[2:] - before[:2], 2)
  corner_after, side_after = np.tile(after[:2], 2), np.tile(after[2:] - after[:2], 2)
  return np.clip((boxes - corner) / side * side_after + corner_after, 0, 1)


def _joined(
  taken: Sequence[tuple[np.ndarray, records.Regions, np.ndarray]], count: int
) -> records.Regions:
  """Chosen rows of several pictures' regions as one picture's, the surest first."""
  scores = np.concatenate([regions.scores[rows] for _, regions, rows in taken])
  order = np.argsort(-scores, kind="stable")[:count]

  def words(name: str) -> tuple[str, ...]:
    every = [getattr(regions, name)[row] for _, regions, rows in taken for row in rows]
    return tuple(every[row] for row in order)

  return records.Regions(
    boxes_px=_at_least_a_pixel(np.concatenate([boxes for boxes, *_ in taken])[order]),
    features=np.concatenate([regions.features[rows] for _, regions, rows in taken])[order],
    labels=words("labels"),
    scores=scores[order],
    colours=words("colours"),
  )


def _at_least_a_pixel(boxes_px: np.ndarray) -> np.ndarray:
  low = np.maximum(np.minimum(boxes_px[:, :2], boxes_px[:, 2:] - 1), 0)
  return np.concatenate([low, np.maximum(boxes_px[:, 2:], low + 1)], 1).astype(np.float32)
