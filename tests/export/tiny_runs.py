"""Runs with small models and drawn weights, for exporting."""

import dataclasses
import pathlib
from typing import Any

import keras
import numpy as np

from gcap_tf.captioners import catalog
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies

WORDS = ("", "a", "man", "rides", "the", "horse", "dog", "on", "grass", "UNK")
THINGS = (False, False, True, False, False, True, True, False, True, False)
LABELS = ("man", "horse", "dog")
FEATURES = 5


def captioner_run(
  folder: pathlib.Path,
  *,
  name: str = "updown",
  feature_size: int = FEATURES,
  labelled: bool = False,
  seed: int = 4,
) -> run_folders.Run:
  """A captioner of 8 units whose captions differ from picture to picture."""
  keras.utils.set_random_seed(seed)
  vocabulary = vocabularies.Vocabulary("captioner", WORDS, LABELS if labelled else ())
  config_class = catalog.CAPTIONERS.get(name).Config
  options = {
    "vocabulary_size": len(WORDS),
    "feature_size": feature_size,
    "num_labels": len(LABELS) if labelled else 0,
    "label_size": 6,
    "embedding_size": 8,
    "hidden_size": 8,
    "attention_size": 8,
    "dropout": 0.0,
  }
  known = {field.name for field in dataclasses.fields(config_class)}
  config = config_class(**{key: value for key, value in options.items() if key in known})
  model = run_folders.make_model("captioner", name, config)
  rng = np.random.default_rng(seed)
  for variable in model.variables:  # drawn wide, so that regions decide on words
    scale = 0.1 if variable.name == "bias" else 1.5
    variable.assign(rng.normal(0, scale, variable.shape).astype(np.float32))
  return run_folders.Run(folder, "captioner", name, model, vocabulary, {})


def trained_run(folder: pathlib.Path, **extra: Any) -> run_folders.Run:
  """A captioner of labelled regions as training leaves it."""
  run = captioner_run(folder, feature_size=0, labelled=True)
  config = {
    "training": {"epochs": 3, "teacher": "/home/me/runs/teacher", "losses": {"distill_weight": 1}},
    "data": "/home/me/data",
    "dataset": "flickr30k_entities",
    "object_classes": ["dog", "and/or"],
    "command": "train_captioner.py --data=/home/me/data",
    **extra,
  }
  run_folders.save(folder, "captioner", "updown", run.model, run.vocabulary, config)
  return run


def regions(
  pictures: int, count: int, *, seed: int = 0, feature_size: int = FEATURES, labelled: bool = False
) -> dict[str, np.ndarray]:
  """A request with 1 to `count` real regions a picture."""
  rng = np.random.default_rng(seed)
  low = rng.uniform(0, 0.5, (pictures, count, 2))
  given = {
    "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
    "num_regions": rng.integers(min(1, count), count + 1, pictures).astype(np.int32),
  }
  if feature_size:
    given["features"] = rng.normal(0, 2, (pictures, count, feature_size)).astype(np.float32)
  if labelled:
    given["labels"] = rng.choice([b"man", b"horse", b"dog", b"zebra"], (pictures, count)).astype(
      object
    )
  return given
