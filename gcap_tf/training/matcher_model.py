"""Which matcher a run trains: its sizes, from options and data."""

import dataclasses
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.matchers import catalog
from gcap_tf.text import vocabulary as vocabularies


@dataclasses.dataclass(frozen=True)
class MatcherOptions:
  """The matcher of a run.

  Attributes:
    model: registered name.
    options: options of the model, besides the sizes that follow from data and vocabulary.
    min_count: words seen less often are unknown.
    vocabulary_splits: splits whose captions are counted: train, train_val or all.
  """

  model: str = "scan"
  options: dict[str, Any] = dataclasses.field(default_factory=dict)
  min_count: configs.PositiveInt = 4
  vocabulary_splits: prepared_data.VocabularySplits = "train"


def check_regions(data: prepared_data.PreparedData, model: str) -> None:
  """Raises a `UserError` if the data's regions lack what the matcher reads."""
  cls = catalog.MATCHERS.get(model)
  if not (data.feature_size or (data.has_labels and cls.attends)):
    raise errors.UserError(
      f"{data.folder} has regions without features; {model} needs them: "
      "prepare the data with --regions=noisy or a region store"
    )
  if cls.reads_positions and not (data.has_boxes or data.has_position_blocks):
    raise errors.UserError(
      f"{data.folder} has regions without boxes; {model} reads where regions are: "
      "prepare the data with boxes, or from arrays with 30 columns of position blocks"
    )


def model_config(
  data: prepared_data.PreparedData,
  vocabulary: vocabularies.Vocabulary,
  config: MatcherOptions,
) -> Any:
  """The model's own options, with the sizes of data and vocabulary.

  Labels are read if regions have no features.
  """
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  if not data.feature_size:
    sizes["num_labels"] = len(vocabulary.labels)
  matcher = catalog.MATCHERS.get(config.model)
  if not matcher.attends and data.global_size not in (0, data.feature_size):
    raise errors.UserError(
      f"{config.model} reads the feature of the whole picture as it reads regions, but "
      f"{data.folder} has {data.global_size} features of it and {data.feature_size} of a region"
    )
  cls = matcher.Config
  if "regions" in {field.name for field in dataclasses.fields(cls)}:
    sizes["regions"] = data.max_regions
  return configs.from_dict(cls, {**config.options, **sizes}, f"matcher {config.model}")
