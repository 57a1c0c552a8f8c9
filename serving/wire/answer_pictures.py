"""Draws the answer of a server on its picture."""

import pathlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from gcap_tf import errors, files
from gcap_tf.visuals import draw
from serving.wire import answers

_KINDS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}


def drawing(
  answer: answers.GroundedCaption,
  picture: Image.Image | bytes | None,
  regions_01: np.ndarray | None = None,
  labels: Sequence[str] = (),
  threshold: float = answers.THRESHOLD,
) -> Image.Image:
  """Draws the caption and the boxes of its nouns on the picture, or on an empty canvas.

  A number gets the probability that its box is right, or the share of the attention if the
  model has no such probability.
  """
  scores = answer.word_scores
  return draw.grounded_caption(
    picture,
    answer.words,
    answer.boxes,
    answer.pointing(threshold).tolist(),
    attention=answer.attention if scores is None else scores,
    regions_01=regions_01,
    labels=labels,
  )


def write(image: Image.Image, path: files.PathLike) -> None:
  """Writes a drawing as .png or .jpg."""
  kind = _KINDS.get(pathlib.Path(path).suffix.lower())
  if kind is None:
    raise errors.UserError(f"{path}: pictures are written as .png or .jpg")
  with files.atomic_path(path) as partial:
    image.save(partial, format=kind)
