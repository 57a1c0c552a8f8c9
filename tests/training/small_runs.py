"""Small prepared data and small trained runs, for tests of training and evaluation."""

import io
import pathlib

import numpy as np
import tensorflow as tf
from PIL import Image

from gcap_tf.data.prepared import prepared_data
from gcap_tf.training.methods import captioning, matching
from tests.data import make_records

MATCHER_SIZES = {"joint_size": 8, "word_size": 6}
CAPTIONER_SIZES = {
  "hidden_size": 12, "embedding_size": 10, "attention_size": 8, "dropout": 0.1,
}  # fmt: skip


def data(folder: pathlib.Path, **options) -> prepared_data.PreparedData:
  return make_records.prepare_small(folder / "data", **options)


def matcher_config(model: str = "scan", **options) -> matching.MatcherTrainingConfig:
  # One length of captions: each compiles a step of its own.
  return matching.MatcherTrainingConfig(
    model=model, options=MATCHER_SIZES, min_count=1, batch_size=16, epochs=1, buckets=(), **options
  )


def captioner_config(model: str = "updown", **options) -> captioning.CaptionerTrainingConfig:
  chosen = {"epochs": 1, "captions_per_image": 2, "max_words": 10} | options
  return captioning.CaptionerTrainingConfig(
    model=model, options=CAPTIONER_SIZES, min_count=1, images=6, **chosen
  )


def summaries(run: pathlib.Path) -> dict[str, list[tf.compat.v1.Summary.Value]]:
  """What a run's event files hold, by tag, in the order of steps."""
  found: dict[str, list] = {}
  for path in sorted((run / "tensorboard").iterdir()):
    for event in tf.compat.v1.train.summary_iterator(str(path)):
      for value in event.summary.value:
        found.setdefault(value.tag, []).append(value)
  return found


def image(value: tf.compat.v1.Summary.Value) -> np.ndarray:
  """The picture of an image summary, [H, W, 3]."""
  width, height, *encoded = value.tensor.string_val
  picture = Image.open(io.BytesIO(encoded[0]))
  assert picture.size == (int(width), int(height))
  return np.asarray(picture)
