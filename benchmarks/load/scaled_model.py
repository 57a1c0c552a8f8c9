"""A served model of two products, which loads and answers at once: for counts of the server itself.

    features float32 [B, D]  ->  scaled, shifted float32 [B, D], name string [B]

Each output comes from another variable of the version, so an answer that mixes two versions shows.
No sum is in it, so an answer is the same bits in every batch.
"""

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

NAME = "scaled"
FEATURES = 16


class Scaled(tf.Module):
  """Scales and shifts features by a number of its own."""

  def __init__(self, number: float):
    super().__init__(name=NAME)
    self.factor = tf.Variable(tf.fill([FEATURES], number))
    self.term = tf.Variable(tf.fill([FEATURES], number))
    self.label = tf.Variable(str(number))

  @tf.function(input_signature=[tf.TensorSpec([None, FEATURES], tf.float32, "features")])
  def scale(self, features: tf.Tensor) -> dict[str, tf.Tensor]:
    name = tf.fill([tf.shape(features)[0]], self.label)
    return {"scaled": features * self.factor, "shifted": features + self.term, "name": name}


def save(folder: pathlib.Path, number: float) -> pathlib.Path:
  """Writes version 1 to a base path; returns the folder of the version."""
  model = Scaled(number)
  tf.saved_model.save(model, str(folder / "1"), signatures={"serving_default": model.scale})
  return folder / "1"


def request(seed: int = 0) -> bytes:
  """A serialised request of one row."""
  message = predict_pb2.PredictRequest()
  message.model_spec.name = NAME
  features = np.random.default_rng(seed).normal(size=(1, FEATURES)).astype(np.float32)
  message.inputs["features"].CopyFrom(tf.make_tensor_proto(features))
  return message.SerializeToString()
