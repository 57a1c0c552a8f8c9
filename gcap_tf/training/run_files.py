"""The files that a run writes before its first step: configuration, vocabulary, options."""

import pathlib
import sys
from typing import Any

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import loop_options, strategies
from gcap_tf.visuals import summaries


def write(
  folder: files.PathLike,
  kind: run_folders.Kind,
  name: str,
  model_config: Any,
  vocabulary: vocabularies.Vocabulary,
  config: loop_options.LoopOptions,
  data: prepared_data.PreparedData,
  **further: Any,
) -> None:
  """Writes config.json, vocabulary.json and the options for TensorBoard.

  Args:
    folder: of the run.
    kind: "captioner" or "matcher".
    name: registered name of the model.
    model_config: the model's own options.
    vocabulary: its words.
    config: everything that changes the run's numbers.
    data: what it is trained on.
    **further: entries of config.json besides those of every run.
  """
  values = {
    "training": configs.to_dict(config),
    **further,
    "data": str(data.folder),
    "dataset": data.name,
    "regions": data.info.get("detector", {}),
    "command": " ".join(sys.argv),
  }
  run_folders.write_config(folder, kind, name, model_config, vocabulary, values)
  write_hparams(folder, values["training"])


def write_hparams(folder: files.PathLike, options: dict[str, Any]) -> None:
  """Writes the options for TensorBoard's HParams panel; only the first worker does."""
  folder = pathlib.Path(folder)
  if not strategies.worker(tf.distribute.get_strategy()).is_chief:
    return
  writer = tf.summary.create_file_writer(str(folder / "tensorboard"), filename_suffix=".options")
  with writer.as_default(step=0):
    summaries.hparams(options, folder.name)
  writer.close()
