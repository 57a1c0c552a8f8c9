"""Which captioner a run trains: its vocabulary and sizes, from options and data."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.data.prepared import feature_layout, prepared_data
from gcap_tf.text import vocabulary as vocabularies

# How the GVD family reads a video, unless the options say otherwise: GVD's own sizes.
VIDEO = {"frame_layers": 2, "segment_size": 50}


@dataclasses.dataclass(frozen=True)
class CaptionerOptions:
  """The captioner of a run.

  Attributes:
    model: registered name.
    options: options of the model, besides the sizes that follow from data and vocabulary.
    region_labels: whether the captioner reads the labels of regions; "auto" reads them if
      regions have no features.
    region_classes: "objects" gives GVD's classifier of regions one class for each annotated
      object class of the data, "auto" does so if the data has some, and "option" gives as many
      as the model's option says.
    min_count: words seen less often are UNK.
    vocabulary_splits: splits whose captions are counted: train, train_val or all.
  """

  model: str = "updown"
  options: dict[str, Any] = dataclasses.field(default_factory=dict)
  region_labels: Literal["auto", "yes", "no"] = "auto"
  region_classes: Literal["option", "objects", "auto"] = "option"
  min_count: configs.PositiveInt = 6
  vocabulary_splits: prepared_data.VocabularySplits = "train"


def uses_labels(data: prepared_data.PreparedData, config: CaptionerOptions) -> bool:
  """Whether the captioner reads region labels; a `UserError` if it would have nothing to read."""
  wanted = {"yes": True, "no": False, "auto": not data.feature_size}[config.region_labels]
  if wanted and not data.has_labels:
    raise errors.UserError(f"{data.folder} has regions without labels; set region_labels=no")
  if not wanted and not data.feature_size:
    raise errors.UserError(f"{data.folder} has regions without features; set region_labels=yes")
  return wanted


def sorts_regions(data: prepared_data.PreparedData, config: CaptionerOptions) -> bool:
  """Whether regions are sorted into the data's object classes; a `UserError` if it has none."""
  if config.region_classes == "objects" and not data.object_classes:
    raise errors.UserError(
      f"{data.folder} has no object classes; set region_classes=option, or prepare the data "
      "with --object_classes=FILE"
    )
  return config.region_classes != "option" and bool(data.object_classes)


def build_vocabulary(
  data: prepared_data.PreparedData, config: CaptionerOptions
) -> vocabularies.Vocabulary:
  """The run's words, and the labels that it reads of regions or classifies them by."""
  vocabulary = data.build_vocabulary("captioner", config.min_count, config.vocabulary_splits)
  labels = vocabulary.labels if uses_labels(data, config) else ()
  if sorts_regions(data, config):
    labels += tuple(name for name in data.object_classes if name not in labels)
  return dataclasses.replace(vocabulary, labels=labels)


def model_config(
  data: prepared_data.PreparedData,
  vocabulary: vocabularies.Vocabulary,
  config: CaptionerOptions,
) -> Any:
  """The model's own options, with the sizes of data and vocabulary.

  A model of the GVD family reads the grid that the data has, unless `options.grid_size` is 0.
  Other models read the frames of a video as one picture.
  """
  sizes = {
    "vocabulary_size": vocabulary.size,
    "feature_size": data.feature_size,
    "global_size": data.global_size,
    "global_is_mean": data.global_is_mean and data.frames == 1,
    "num_labels": len(vocabulary.labels) if uses_labels(data, config) else 0,
  }
  if sorts_regions(data, config):
    sizes["num_classes"] = len(vocabulary.labels)
  if config.options.get("naming"):
    sizes |= named_labels(data, vocabulary, bool(config.options.get("soft_names")))
  check_sizes(config.options, data)
  cls = catalog.CAPTIONERS.get(config.model).Config
  names = {field.name for field in dataclasses.fields(cls)}
  if "grid_size" in names and "grid_size" not in config.options:
    sizes["grid_size"] = data.grid_size
  options = dict(config.options)
  if data.frames > 1:
    sizes["global_size"] = batch_global_size(data)
  if data.frames > 1 and "num_frames" in names:
    sizes["num_frames"] = data.frames
    reads_frames = options.get("grid_size", data.grid_size)
    usual = {name: size for name, size in VIDEO.items() if reads_frames or name != "frame_layers"}
    options = {**(usual if sizes["global_size"] else {}), **options}
  return configs.from_dict(cls, {**options, **sizes}, f"captioner {config.model}")


def batch_global_size(data: prepared_data.PreparedData) -> int:
  """G of the batches of a video; 0 if its regions have labels alone."""
  return data.batch_global_size if data.global_size or data.feature_size else 0


def check_sizes(options: Mapping[str, Any], data: prepared_data.PreparedData) -> None:
  """A `UserError` if a captioner is to read a grid or global feature that the data lacks."""
  for name, what in (("grid_size", "a grid cell"), ("global_size", "the whole picture")):
    expected, found = options.get(name, 0), getattr(data, name)
    if expected and expected != found:
      raise errors.UserError(
        f"options.{name}={expected}: {data.folder} has {found or 'no'} features of {what}; "
        f"prepare it with regions of pictures, or set options.{name}={found}"
      )


def named_labels(
  data: prepared_data.PreparedData, vocabulary: vocabularies.Vocabulary, soft: bool
) -> dict[str, Any]:
  """The options of `layers/naming.py` that follow from data and vocabulary.

  A label that is no word has the word 0.
  """
  known = {word: index for word, index in vocabulary.ids.items() if index != vocabulary.unknown_id}
  if not soft:
    return {"label_words": [0, *(known.get(label, 0) for label in vocabulary.labels)]}
  layout = feature_layout.of(data)
  if layout is None or not layout.labels:
    raise errors.UserError(
      f"options.soft_names: the regions of {data.folder} have no distribution of labels; "
      "prepare it with --regions=pictures, or leave the option out"
    )
  words = [known.get(label, 0) for label in layout.labels]
  return {"label_words": words, "label_columns": list(layout.label_columns)}
