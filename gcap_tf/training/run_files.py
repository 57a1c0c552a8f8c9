"""The run folder of every training method: one program at a time, and nothing lost.

    @run_files.alone
    def train(data, config, folder, override=False):
      ...
      record = run_files.check(folder, "matcher", "scan", model, vocabulary, config, data)
      ...
      return loop.train(..., record=record)

`check` compares the command with what is in the folder and writes nothing; the loop writes the
record when the checkpoint is restored (`runs/run_record.py`).
"""

import dataclasses
import functools
import hashlib
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import files, locks
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import detector_runs, run_folders, run_record
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import detector_data, loop_options, strategies
from gcap_tf.visuals import summaries

Train = Callable[..., dict[str, float]]


def alone(train: Train) -> Train:
  """`train(data, config, folder)` that holds the lock of its run folder.

  Of several workers of a job only the first does: it alone writes.
  """

  @functools.wraps(train)
  def locked(data: Any, config: Any, folder: files.PathLike, **options: Any) -> dict[str, float]:
    if not strategies.worker_of_environment().is_chief:
      return train(data, config, folder, **options)
    with locks.hold(folder):
      return train(data, config, folder, **options)

  return locked


class TrainingRecord(run_record.Record):
  """A run's record that also shows its options in TensorBoard."""

  def write(self, step: int) -> None:
    super().write(step)
    write_hparams(self.folder, self.values["training"])


def check(
  folder: files.PathLike,
  kind: run_folders.Kind,
  name: str,
  model: keras.Model,
  vocabulary: vocabularies.Vocabulary,
  config: loop_options.LoopOptions,
  data: prepared_data.PreparedData,
  override: bool = False,
  **further: Any,
) -> TrainingRecord:
  """The record of a captioner or a matcher; a `UserError` if the folder holds another run.

  Args:
    folder: of the run.
    kind: "captioner" or "matcher".
    name: registered name of the model.
    model: the model.
    vocabulary: its words.
    config: everything that changes the run's numbers.
    data: what it is trained on.
    override: continues a run with other settings than its own.
    **further: entries of config.json besides those of every run.
  """
  values = {
    "training": configs.to_dict(config),
    **further,
    "data": str(data.folder),
    "data_sha256": fingerprint(data),
    "dataset": data.name,
    "regions": data.info.get("detector", {}),
    "command": " ".join(sys.argv),
  }
  values = run_folders.config_values(kind, name, model.config, vocabulary, values)
  return _checked(folder, values, vocabulary.to_json(), config, model, override)


def check_detector(
  folder: files.PathLike,
  model: keras.Model,
  model_config: Any,
  words: dict[str, Any],
  config: loop_options.LoopOptions,
  sources: detector_data.Sources,
  override: bool = False,
) -> TrainingRecord:
  """The record of a detector.

  Args:
    folder: of the run.
    model: what is learned of it.
    model_config: its sizes.
    words: its labels and colours.
    config: everything that changes the run's numbers.
    sources: where its data is.
    override: continues a run with other settings than its own.
  """
  further = {
    "backbone_weights": config.backbone_weights,
    "training": configs.to_dict(config),
    "sources": dataclasses.asdict(sources),
    "data": sources.source,
    "data_sha256": sources.fingerprint(),
    "command": " ".join(sys.argv),
  }
  values = detector_runs.config_values(model_config, further)
  return _checked(folder, values, words, config, model, override)


def fingerprint(data: prepared_data.PreparedData) -> str:
  """Hash of the records that a run learns and validates with, wherever their folder is."""
  sums = {
    name: entry["sha256"]
    for name, entry in data.info["files"].items()
    if name.startswith(("train-", "val-"))
  }
  return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()[:16]


def write_hparams(folder: files.PathLike, options: dict[str, Any]) -> None:
  """Writes the options for TensorBoard's HParams panel."""
  folder = pathlib.Path(folder)
  writer = tf.summary.create_file_writer(str(folder / "tensorboard"), filename_suffix=".options")
  with writer.as_default(step=0):
    summaries.hparams(options, folder.name)
  writer.close()


def _checked(folder, values, words, config, model, override) -> TrainingRecord:
  record = TrainingRecord(folder, values, words, configs.to_dict(type(config)()))
  record.check(model, override)
  return record
