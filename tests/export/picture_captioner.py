"""A captioner of photographs with drawn weights, on the small detector of tests."""

import pathlib
from typing import Any

import keras
import numpy as np

from gcap_tf.captioners import catalog
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.vision import regions
from tests.export import tiny_runs
from tests.vision import small_detector

REGIONS = 6


def record(detector: str, **changes: Any) -> dict[str, Any]:
  """`regions` of a run's config.json."""
  maker = regions.RegionMaker(small_detector.make())
  return {
    "name": "pictures",
    "detector": detector,
    "regions": REGIONS,
    "min_score": 0.0,
    "columns": {name: list(ends) for name, ends in maker.columns.items()},
    "labels": list(small_detector.LABELS),
    "colours": list(small_detector.COLOURS),
    "fingerprint": "",
    **changes,
  }


def write(folder: pathlib.Path, name: str = "updown", **extra: Any) -> pathlib.Path:
  """Writes FOLDER/eyes, a detector, and FOLDER/run, a captioner of its regions; returns the run.

  Args:
    folder: of both.
    name: registered name of the captioner.
    **extra: entries of config.json, in place of the usual ones.
  """
  detector = small_detector.write_run(folder / "eyes")
  maker = regions.RegionMaker(small_detector.make())
  vocabulary = vocabularies.Vocabulary("captioner", tiny_runs.WORDS, ("dog", "man"))
  config = catalog.CAPTIONERS.get(name).Config(
    vocabulary_size=len(tiny_runs.WORDS),
    feature_size=maker.feature_size,
    global_size=maker.global_size,
    num_labels=2,
    label_size=6,
    embedding_size=8,
    hidden_size=8,
    attention_size=8,
    dropout=0.0,
  )
  keras.utils.set_random_seed(2)
  model = run_folders.make_model("captioner", name, config)
  rng = np.random.default_rng(2)
  for variable in model.variables:  # drawn wide, so that regions decide on words
    scale = 0.1 if variable.name == "bias" or variable.shape[0] > 100 else 1.5
    variable.assign(rng.normal(0, scale, variable.shape).astype(np.float32))
  values = {"dataset": "flickr30k_entities", "regions": record(detector), **extra}
  run_folders.save(folder / "run", "captioner", name, model, vocabulary, values)
  return folder / "run"
