"""Captioners with random weights, for measurements of serving."""

import pathlib

import keras
import numpy as np
import tensorflow as tf

from export import captioner_module, region_inputs, saved_model, warmup_requests
from gcap_tf.captioners import base, catalog
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies

LABELS = ("man", "horse", "dog", "ball")


def make(
  hidden: int,
  features: int,
  words: int,
  spread: float = 0.0,
  name: str = "updown",
  labelled: bool = False,
) -> tuple[base.Captioner, vocabularies.Vocabulary]:
  """Returns a captioner and its vocabulary.

  Args:
    hidden: number of units.
    features: D; 0 for a captioner that reads labels only.
    words: V.
    spread: standard deviation of random weights, which make captions differ between
      pictures; 0 keeps the model's initial weights.
    name: registered name of the captioner.
    labelled: whether it reads the labels of regions, `LABELS`.
  """
  keras.utils.set_random_seed(0)
  listed = ("", *(f"word{i}" for i in range(words - 2)), "UNK")
  vocabulary = vocabularies.Vocabulary("captioner", listed, LABELS if labelled else ())
  options = {
    "vocabulary_size": words,
    "feature_size": features,
    "num_labels": len(vocabulary.labels),
    "label_size": hidden,
    "embedding_size": hidden,
    "hidden_size": hidden,
    "attention_size": hidden,
  }
  known = catalog.CAPTIONERS.get(name).Config.__dataclass_fields__
  config = {option: value for option, value in options.items() if option in known}
  model = run_folders.make_model("captioner", name, config)
  if spread:
    rng = np.random.default_rng(0)
    for variable in model.variables:
      variable.assign(rng.normal(0, spread, variable.shape).astype(np.float32))
  return model, vocabulary


def export(folder: pathlib.Path, hidden: int, features: int, words: int) -> pathlib.Path:
  """Exports version 1 of a captioner; returns its base path."""
  model, vocabulary = make(hidden, features, words)
  return write(folder, captioner_module.CaptionerModule(model, vocabulary, [False] * words))


def write(folder: pathlib.Path, module: captioner_module.CaptionerModule) -> pathlib.Path:
  version = folder / "captioner" / "1"
  signatures = module.signatures()
  saved_model.save(module, str(version), signatures)
  warmup_requests.write(version, "captioner", saved_model.example_requests(module, signatures))
  return version.parent


def specs(features: int) -> dict[str, tf.TensorSpec]:
  """Returns the inputs of such a captioner."""
  return region_inputs.RegionInputs(features, labelled=False).specs()
