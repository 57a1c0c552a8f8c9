"""One picture file to the regions that a store keeps."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, fingerprints
from gcap_tf.data import records
from gcap_tf.data.stores import extracted_store, label_mapping
from gcap_tf.vision import canvas, folds, pictures, regions, suppression
from gcap_tf.vision import detector as detectors
from gcap_tf.vision.detectors import base, catalog, own

SHIPPED = "shipped"
_THRESHOLD = 0.5  # IoU above which the lesser of two boxes of another detector is dropped.


OpenRun = Callable[[str], own.DetectorRun]


@dataclasses.dataclass(frozen=True)
class ExtractionConfig:
  """What decides the bytes of a store.

  Attributes:
    detector: "shipped", a run folder, or `PREFIX:WHAT` of another detector, or
      several of them joined by "+".
    describer: our detector that describes the boxes of another one.
    folds: run folders; run f was trained without the pictures of fold f. Each picture that
      `train_ids` lists is looked at by the run that has not seen it.
    train_ids: file of picture ids, one a line; "" lists every picture. Pictures that it does not
      list are looked at by `detector`.
    regions: at most so many of a picture.
    min_score: leaves out regions that are scored lower; the best one always stays.
    class_names: file of another detector's class names; "" takes the usual ones.
  """

  detector: str = SHIPPED
  describer: str = SHIPPED
  folds: tuple[str, ...] = ()
  train_ids: str = ""
  regions: configs.PositiveInt = 36
  min_score: configs.Fraction = 0.0
  class_names: str = ""

  def __post_init__(self):
    if self.regions < 1:
      raise errors.UserError(f"regions is {self.regions}; it must be at least 1")
    if self.folds and catalog.is_foreign(self.detector):
      raise errors.UserError(
        f"folds are of our own detector; {self.detector} was trained elsewhere: leave them out"
      )

  @property
  def main(self) -> str:
    """The run of our detector that describes regions, and whose statistics standardise them."""
    return self.describer if catalog.is_foreign(self.detector) else self.detector


class RegionExtractor:
  """Loads the detectors once and looks at pictures one by one.

  A picture never shares a batch, so its bytes do not depend on the others.
  """

  def __init__(self, config: ExtractionConfig, open_run: OpenRun):
    self.config = config
    self._foreign = None
    if catalog.is_foreign(config.detector):
      self._foreign = catalog.open_detector(config.detector, config.class_names, open_run)
    self._main = open_run(config.main)
    runs = [self._main, *(open_run(name) for name in config.folds)]
    for name, run in zip(config.folds, runs[1:], strict=True):
      if run.labels != self._main.labels or run.colours != self._main.colours:
        raise errors.UserError(f"{name} knows other words than {config.detector}; train it alike")
    # Statistics of one run for all, so that the numbers of different folds mean the same.
    standard = self._main.detector.head.namer.standard
    self._makers = [regions.RegionMaker(run.detector, standard) for run in runs]
    self._propose = [_compiled(maker, config) for maker in self._makers]
    self._describe = tf.function(self._makers[0].describe, reduce_retracing=True)
    self._train_ids = _read_ids(config.train_ids) if config.train_ids else None
    self._mapping = label_mapping.LabelMapping(self._main.labels)
    self._columns = {label: column for column, label in enumerate(self._main.labels)}

  def info(self) -> extracted_store.StoreInfo:
    """What the store says about itself."""
    maker, config = self._makers[0], self.config
    return extracted_store.StoreInfo(
      detector=",".join((config.detector, *config.folds)),
      regions=config.regions,
      min_score=config.min_score,
      feature_size=maker.feature_size,
      global_size=maker.global_size,
      grid_size=maker.grid_size,
      grid_cells=regions.CELLS,
      columns={name: list(columns) for name, columns in maker.columns.items()},
      labels=list(self._main.labels),
      colours=list(self._main.colours),
      fingerprint=fingerprint([maker.detector for maker in self._makers]),
    )

  def extract(self, image_id: str, path: pathlib.Path) -> tuple[records.Regions, tuple[int, int]]:
    """The regions of a picture file, boxes in its pixels, and its width and height.

    Raises:
      UserError: the file cannot be decoded; the error names it.
    """
    image = pictures.read(path)
    height, width = image.shape[:2]
    return self.regions(image, image_id), (width, height)

  def regions(self, image: np.ndarray, image_id: str) -> records.Regions:
    """The regions of a picture [height, width, 3], boxes in its pixels."""
    height, width = image.shape[:2]
    return self._as_record(self.look(image, image_id), width, height)

  def look(self, image: np.ndarray, image_id: str) -> dict[str, tf.Tensor]:
    """The regions of a picture [height, width, 3] as a batch of one, see `RegionMaker`."""
    if self._foreign is not None:
      return self._foreign_regions(image, image_id)
    placed, content = canvas.place(tf.constant(image), self._main.detector.config.size)
    return self._propose[self._number(image_id)](placed[None], content[None])

  def _number(self, image_id: str) -> int:
    """Which maker looks at a picture: 0, or 1 + its fold."""
    listed = self._train_ids is None or image_id in self._train_ids
    if not self.config.folds or not listed:
      return 0
    return 1 + folds.fold(image_id, len(self.config.folds))

  def _foreign_regions(self, image: np.ndarray, image_id: str) -> dict[str, tf.Tensor]:
    found = _chosen(self._foreign.detect(image, image_id), self.config)
    placed, content = canvas.place(tf.constant(image), self._main.detector.config.size)
    columns = [self._columns.get(self._mapping.of(name) or "", -1) for name in found.labels]
    given = regions.Given(
      tf.constant(found.boxes[None]),
      tf.constant(found.scores[None]),
      tf.constant([columns], tf.int32),
      tf.ones([1, len(found.scores)], tf.bool),
    )
    return self._describe(placed[None], content[None], given)

  def _as_record(self, found: dict[str, tf.Tensor], width: int, height: int) -> records.Regions:
    real = found["region_mask"][0].numpy()
    rows = {name: value[0].numpy() for name, value in found.items()}
    boxes_px = rows["boxes"][real] * np.array([width, height] * 2, np.float32)
    # A box at the edge of a picture may have no width after clipping: a pixel at least.
    corner = np.array([width, height], np.float32)
    boxes_px[:, :2] = np.minimum(boxes_px[:, :2], np.maximum(corner - 1, 0))
    boxes_px[:, 2:] = np.minimum(np.maximum(boxes_px[:, 2:], boxes_px[:, :2] + 1), corner)
    return records.Regions(
      boxes_px=boxes_px,
      features=rows["features"][real],
      labels=tuple(self._main.labels[column] for column in rows["region_labels"][real]),
      scores=rows["region_scores"][real],
      global_feature=rows["global_feature"],
      grid_features=rows["grid_features"],
      colours=tuple(self._main.colours[column] for column in rows["region_colours"][real]),
    )


def _compiled(maker: regions.RegionMaker, config: ExtractionConfig):
  return tf.function(
    lambda placed, content: maker.propose(placed, content, config.regions, config.min_score)
  )


def _chosen(found: base.Detections, config: ExtractionConfig) -> base.Detections:
  """Class-agnostic suppression; if nothing is left, the whole picture with the score 0."""
  if len(found.scores):
    boxes, scores = tf.constant(found.boxes[None]), tf.constant(found.scores[None])
    count = min(config.regions, len(found.scores))
    rows, kept = suppression.suppress(boxes, scores, count, _THRESHOLD)
    real = kept.numpy()[0] & (found.scores[rows.numpy()[0]] >= config.min_score)
    chosen = rows.numpy()[0][real]
    if len(chosen):
      labels = tuple(found.labels[row] for row in chosen)
      return base.Detections(found.boxes[chosen], labels, found.scores[chosen])
  whole = np.array([[0, 0, 1, 1]], np.float32)
  return base.Detections(whole, ("",), np.zeros(1, np.float32))


def _read_ids(path: str) -> frozenset[str]:
  try:
    return frozenset(pathlib.Path(path).read_text(encoding="utf-8").split())
  except (OSError, UnicodeDecodeError) as error:
    raise errors.UserError(f"picture ids {path} cannot be read ({error})") from None


def fingerprint(models: Sequence[detectors.Detector]) -> str:
  """A hash of what decides the regions: weights of detectors, and how they choose."""
  parts = []
  for model in models:
    c = model.config
    parts += [repr((c.size, c.candidates, c.threshold, c.sigma))]
    parts += [[*model.backbone.weights, *model.head.weights]]
  return fingerprints.of(*parts)
