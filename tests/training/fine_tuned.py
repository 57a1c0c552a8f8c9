"""An untrained captioner and an untrained matcher as run folders, to begin fine-tuning with."""

import dataclasses
import json
import pathlib

import keras
import numpy as np

from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import checkpoints, run_folders
from tests.training import small_runs

_SIZES = {"hidden_size": 8, "embedding_size": 6, "dropout": 0.2}


def captioner(
  folder: pathlib.Path,
  data: prepared_data.PreparedData,
  name: str = "neuraltalk2",
  min_count: int = 1,
  **sizes: int,
) -> pathlib.Path:
  """A captioner of random weights, saved as a finished run."""
  keras.utils.set_random_seed(3)
  vocabulary = dataclasses.replace(data.build_vocabulary("captioner", min_count), labels=())
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size} | sizes
  model = run_folders.make_model("captioner", name, {**_SIZES, **sizes})
  run_folders.save(folder, "captioner", name, model, vocabulary, {"training": {"max_words": 8}})
  return folder


def matcher(
  folder: pathlib.Path, data: prepared_data.PreparedData, name: str = "pos_scan", **sizes
):
  """A matcher of random weights, saved as a finished run."""
  keras.utils.set_random_seed(4)
  vocabulary = data.build_vocabulary("matcher", 2)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size} | sizes
  model = run_folders.make_model("matcher", name, {**small_runs.MATCHER_SIZES, **sizes})
  run_folders.save(folder, "matcher", name, model, vocabulary)
  return folder


def weights(run: pathlib.Path, step: int) -> list[np.ndarray]:
  """The captioner's weights in a training state."""
  loaded = run_folders.load(run)
  state = checkpoints.StepCheckpoints(run / "checkpoints").path(step)
  checkpoints.restore(state, model=loaded.model)
  return [variable.numpy() for variable in loaded.model.variables]


def lines(run: pathlib.Path) -> list[dict[str, float]]:
  return [json.loads(line) for line in (run / "metrics.jsonl").open()]
