"""Files of a small official checkpoint, as a user would have them."""

import json

import numpy as np

from tests.interop import official_matchers as official
from tests.interop import test_matcher_checkpoints as examples

ENDINGS = {"weights": ".npz", "options": ".json", "vocab": ".json"}


def write(folder, family="scan", **extra):
  """Writes weights, options and vocabulary; returns their paths by flag, and the weights."""
  options = {**examples.SIZES, "bi_gru": True, "agg_func": "Mean", **extra}
  weights = official.state_dict(family, options)
  np.savez(folder / "weights.npz", **weights)
  (folder / "options.json").write_text(json.dumps(options))
  words = {word: index for index, word in enumerate(examples.VOCABULARY.words)}
  (folder / "vocab.json").write_text(json.dumps({"word2idx": words, "idx": len(words)}))
  paths = {name: folder / f"{name}{ending}" for name, ending in ENDINGS.items()}
  return paths, options, weights
