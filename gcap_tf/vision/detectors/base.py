"""What every detector does: boxes, labels and scores of a picture.

A detector finds things; the features of the boxes come from our backbone, so that any detector can
feed any captioner.
"""

import abc
import dataclasses
import pathlib
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import errors, registry
from gcap_tf.data.stores import coco_categories
from gcap_tf.vision import canvas


@dataclasses.dataclass(frozen=True)
class Detections:
  """What was found in one picture, best first.

  Attributes:
    boxes: [N, 4] float32, x1, y1, x2, y2 from 0 to 1 of the picture.
    labels: N names as the detector has them, "" if it has none.
    scores: [N] float32 from 0 to 1.
  """

  boxes: np.ndarray
  labels: tuple[str, ...]
  scores: np.ndarray


class Detector(abc.ABC):
  """Finds things in pictures.

  Attributes:
    source: how the user named it.
  """

  def __init__(self, source: str):
    self.source = source

  @abc.abstractmethod
  def detect(self, image: np.ndarray, image_id: str) -> Detections:
    """What is in a picture [H, W, 3] uint8; `image_id` is the name of its file."""


# Prefix of --detector -> function (what follows the prefix, names of the classes or None).
DETECTORS: registry.Registry[Callable[[str, Sequence[str] | None], Detector]] = registry.Registry(
  "detector"
)


def detections(
  boxes: np.ndarray, labels: Sequence[str], scores: np.ndarray, ordered: bool = False
) -> Detections:
  """Cuts boxes at the edges, drops empty ones, and sorts by score unless they are `ordered`."""
  boxes = np.clip(np.asarray(boxes, np.float32).reshape(-1, 4), 0.0, 1.0)
  scores = np.asarray(scores, np.float32).reshape(-1)
  usable = (boxes[:, 2:] > boxes[:, :2]).all(1) & np.isfinite(scores)
  by_score = np.argsort(-scores, kind="stable")
  order = [row for row in (range(len(scores)) if ordered else by_score) if usable[row]]
  return Detections(boxes[order], tuple(labels[row] for row in order), scores[order])


def on_canvas(image: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
  """A picture on a square of `side` pixels [1, S, S, 3] float32, and its part of it [2]."""
  placed, content = canvas.place(tf.constant(image), side)
  return placed.numpy()[None], content.numpy()


def of_picture(boxes: np.ndarray, content: np.ndarray) -> np.ndarray:
  """Boxes [N, 4] of the canvas as boxes of the picture."""
  return canvas.to_picture(tf.constant(boxes, tf.float32), tf.constant(content)).numpy()


def read_names(path: str) -> list[str]:
  """Names of classes, one a line."""
  try:
    return pathlib.Path(path).read_text(encoding="utf-8").splitlines()
  except (OSError, UnicodeDecodeError) as error:
    raise errors.UserError(f"names of classes {path} cannot be read ({error})") from None


def coco_names(classes: int) -> list[str] | None:
  """Names of COCO's classes by number, if there are as many as a COCO detector has.

  80: without gaps. 90 or 91: by category id, which starts at 1; 90 classes leave out 0.
  """
  names = coco_categories.NAMES
  if classes == len(names):
    return [names[number] for number in sorted(names)]
  if classes in (90, 91):
    return [names.get(number, "") for number in range(91 - classes, 91)]
  return None
