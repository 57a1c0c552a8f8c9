"""The captioner that serving is measured with: drawn weights, any size."""

import pathlib

import keras
import numpy as np
import tensorflow as tf

from export import captioner_module, region_inputs, saved_model, warm_up
from gcap_tf.captioners import base
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import runs


def make(
  hidden: int, features: int, words: int, spread: float = 0.0
) -> tuple[base.Captioner, vocabularies.Vocabulary]:
  """A captioner and its words.

  Args:
    hidden: units.
    features: D.
    words: V.
    spread: scale of normally drawn weights, which makes captions differ from picture to
      picture; 0 keeps the model's own start.
  """
  keras.utils.set_random_seed(0)
  vocabulary = vocabularies.Vocabulary(
    "captioner", ("", *(f"word{i}" for i in range(words - 2)), "UNK")
  )
  config = {
    "vocabulary_size": words,
    "feature_size": features,
    "embedding_size": hidden,
    "hidden_size": hidden,
    "attention_size": hidden,
  }
  model = runs.make_model("captioner", "updown", config)
  if spread:
    rng = np.random.default_rng(0)
    for variable in model.variables:
      variable.assign(rng.normal(0, spread, variable.shape).astype(np.float32))
  return model, vocabulary


def export(folder: pathlib.Path, hidden: int, features: int, words: int) -> pathlib.Path:
  """Writes version 1 of a captioner; returns its base path."""
  model, vocabulary = make(hidden, features, words)
  return write(folder, captioner_module.CaptionerModule(model, vocabulary, [False] * words))


def write(folder: pathlib.Path, module: captioner_module.CaptionerModule) -> pathlib.Path:
  version = folder / "captioner" / "1"
  signatures = module.signatures()
  saved_model.save(module, str(version), signatures)
  warm_up.write(version, "captioner", saved_model.warm_up_requests(module, signatures))
  return version.parent


def specs(features: int) -> dict[str, tf.TensorSpec]:
  """Inputs of that captioner."""
  return region_inputs.RegionInputs(features, labelled=False).specs()
