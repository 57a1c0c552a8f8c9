"""The captioner that serving is measured with: drawn weights, any size."""

import pathlib

import keras
import tensorflow as tf

from export import captioner_module, region_inputs, saved_model, warm_up
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import runs


def export(folder: pathlib.Path, hidden: int, features: int, words: int) -> pathlib.Path:
  """Exports a captioner with drawn weights; returns its base path."""
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
  module = captioner_module.CaptionerModule(model, vocabulary, [False] * words)
  version = folder / "captioner" / "1"
  signatures = module.signatures()
  saved_model.save(module, str(version), signatures)
  warm_up.write(version, "captioner", saved_model.warm_up_requests(module, signatures))
  return version.parent


def specs(features: int) -> dict[str, tf.TensorSpec]:
  """Inputs of that captioner."""
  return region_inputs.RegionInputs(features, labelled=False).specs()
