"""Which columns of a region's feature mean what: recorded when photographs become regions.

The regions of `vision.regions` are several parts side by side; `store.json` of an extracted store
and `dataset.json` of data prepared from one list them as `columns` (part -> first column, one past
the last), with the words of the columns "labels" and "colours". Features of other sources have no
known parts.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from gcap_tf.data.prepared import prepared_data, region_noise
from gcap_tf.data.stores import foreign_names
from gcap_tf.text import vocabulary as vocabularies


@dataclasses.dataclass(frozen=True)
class FeatureLayout:
  """The parts of a feature.

  Attributes:
    columns: part -> (first column, one past the last).
    labels: words of the columns of "labels".
  """

  columns: Mapping[str, Sequence[int]]
  labels: tuple[str, ...]

  @property
  def label_columns(self) -> tuple[int, int]:
    """First column of the label's probabilities, and one past the last; equal if there are none."""
    first, end = self.columns.get("labels", (0, 0))
    return first, end


def of(data: prepared_data.PreparedData) -> FeatureLayout | None:
  """The layout of prepared data; None if it does not say."""
  source = data.info.get("detector") or {}
  if not source.get("columns"):
    return None
  return FeatureLayout(source["columns"], tuple(source.get("labels", ())))


def names(
  data: prepared_data.PreparedData, vocabulary: vocabularies.Vocabulary
) -> region_noise.Names | None:
  """What the names of the data's regions mean for a captioner; None if it reads none.

  A captioner of features reads the columns of labels, another one the labels of its vocabulary.
  """
  layout = of(data)
  if layout and layout.labels and data.feature_size and not vocabulary.labels:
    labels, columns = layout.labels, layout.label_columns
  elif vocabulary.labels:
    labels, columns = vocabulary.labels, (0, 0)
  else:
    return None
  known = {word: index for word, index in vocabulary.ids.items() if index != vocabulary.unknown_id}
  words = np.array([known.get(label, 0) for label in labels], np.int32)
  return region_noise.Names(np.array(foreign_names.coco_labels(labels), np.int32), words, columns)


def changer(
  data: prepared_data.PreparedData,
  vocabulary: vocabularies.Vocabulary,
  config: region_noise.RegionNoise,
) -> region_noise.RegionChanger | None:
  """What changes the regions of the data's batches; None if nothing does."""
  if config.is_off:
    return None
  return region_noise.RegionChanger(config, names(data, vocabulary), not data.global_size)
