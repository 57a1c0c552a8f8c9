"""Picture files to the regions that extraction stores, as one graph of core operations.

    bytes [B] -> decoded, upright -> canvas -> backbone -> boxes, features, words, colours

The numbers are those of `trainers.extract_regions`; a store rounds features and grid to float16,
which is left out here: it would turn a difference of the last bit into a visible one. A file that
cannot be decoded has a problem of its own and no regions; the other files of its batch have theirs.
"""

import tensorflow as tf

from gcap_tf.vision import detector as detectors
from gcap_tf.vision import picture_batches, regions


class RegionGraph:
  """Makes regions of picture files with one detector of ours.

  Attributes:
    maker: the regions.
    regions: R.
  """

  def __init__(
    self, detector: detectors.Detector, count: int, min_score: float = 0.0, webp: bool = True
  ):
    """Takes a detector.

    Args:
      detector: with its weights.
      count: R, regions of a picture.
      min_score: leaves out regions that are scored lower; the best one always stays.
      webp: see `pictures.try_decode`.
    """
    self.maker = regions.RegionMaker(detector)
    self.regions = count
    self._min_score, self._webp = min_score, webp

  def __call__(self, files: tf.Tensor) -> dict[str, tf.Tensor]:
    """Regions of files [B]; B is at least 1.

    Returns:
      what `RegionMaker.propose` returns, besides image_size int32 [B, 2] (width, height of the
      upright picture; 0 if it cannot be decoded) and problem string [B], "" if all is well.
    """
    size = self.maker.detector.config.size
    photographs = picture_batches.load(files, size, webp=self._webp)
    found = self.maker.propose(
      photographs.canvases, photographs.content, self.regions, self._min_score
    )
    found["region_mask"] &= photographs.ok[:, tf.newaxis]
    real = found["region_mask"][..., tf.newaxis]  # [B, R, 1]
    boxes = at_least_a_pixel(found["boxes"], photographs.image_size)
    return found | {
      "features": tf.where(real, found["features"], 0.0),
      "boxes": tf.where(real, boxes, 0.0),
      "region_scores": tf.where(found["region_mask"], found["region_scores"], 0.0),
      "image_size": tf.where(photographs.ok[:, tf.newaxis], photographs.image_size, 0),
      "problem": photographs.problem,
    }


def at_least_a_pixel(boxes: tf.Tensor, image_size: tf.Tensor) -> tf.Tensor:
  """Boxes as a store has them: no side is shorter than a pixel.

  Args:
    boxes: [B, R, 4] from 0 to 1.
    image_size: int32 [B, 2], width and height.
  """
  corner = tf.cast(image_size, tf.float32)[:, tf.newaxis]  # [B, 1, 2]
  low, high = tf.split(boxes * tf.concat([corner, corner], -1), 2, -1)
  low = tf.minimum(low, tf.maximum(corner - 1.0, 0.0))
  high = tf.minimum(tf.maximum(high, low + 1.0), corner)
  return tf.concat([low / corner, high / corner], -1)
