"""A model small enough to load in a blink, with the served signature of a captioner.

Every picture has one word per step, the name of its strongest region, and
`log_prob` is the sum of all its features plus the version: an answer that was mixed
up with another request, padded wrongly or given by the wrong version shows.
"""

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from gcap_tf import files
from gcap_tf.text import vocabulary as vocabularies

FEATURES = 3
STEPS = 2
NUMERALS = tuple(f"region{i}" for i in range(64))


class Pointer(tf.Module):
  """Points at the region with the largest first feature."""

  def __init__(self, version: int):
    super().__init__()
    self.version = tf.Variable(float(version))

  @tf.function(
    input_signature=[
      tf.TensorSpec([None, None, FEATURES], tf.float32, "features"),
      tf.TensorSpec([None, None, 4], tf.float32, "boxes"),
      tf.TensorSpec([None], tf.int32, "num_regions"),
    ]
  )
  def point(self, features, boxes, num_regions):
    mask = tf.sequence_mask(num_regions, tf.shape(features)[1])
    one_more = tf.pad(tf.where(mask, features[..., 0], -1e9), [[0, 0], [0, 1]])
    one_more = tf.concat([one_more[:, :-1], tf.fill([tf.shape(mask)[0], 1], -1e8)], 1)
    best = tf.argmax(one_more, 1, output_type=tf.int32)  # [B]
    best = tf.where(num_regions > 0, best, -1)
    index = tf.repeat(best[:, tf.newaxis], STEPS, axis=1)  # [B, T]
    words = tf.gather(tf.constant(("nothing", *NUMERALS)), tf.minimum(index + 1, 64))
    total = tf.reduce_sum(tf.where(mask[..., tf.newaxis], features, 0.0), [1, 2])
    attention = tf.cast(mask, tf.float32) / tf.cast(tf.maximum(num_regions, 1), tf.float32)[:, None]
    padded_boxes = tf.pad(boxes, [[0, 0], [0, 1], [0, 0]])
    safe = tf.where(index >= 0, index, tf.shape(boxes)[1])
    return {
      "caption": tf.strings.reduce_join(words, 1, separator=" "),
      "words": words,
      "box_index": index,
      "grounded": index >= 0,
      "box": tf.gather(padded_boxes, safe, batch_dims=1),
      "attention": tf.repeat(attention[:, tf.newaxis], STEPS, axis=1),
      "log_prob": total + self.version,
      "length": tf.fill(tf.shape(best), STEPS),
    }

  @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "seconds_in_tenths")])
  def sleep(self, seconds_in_tenths):
    """Counts for a while: a request that keeps the server busy."""
    stop = seconds_in_tenths[0] * 40

    def body(i, x):
      return i + 1, tf.linalg.matmul(x, x) * 0.01

    _, x = tf.while_loop(lambda i, x: i < stop, body, (0, tf.eye(256)))
    return {"done": tf.reshape(tf.reduce_sum(x), [1])}

  @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "x")])
  def refuse(self, x):
    """Fails inside the graph on a negative number."""
    with tf.control_dependencies([tf.debugging.assert_non_negative(x)]):
      return {"y": tf.identity(x)}


def save(base: pathlib.Path, version: int, warm_up: bool = True) -> pathlib.Path:
  """Writes `base/<version>` in one rename, as the exporter does."""
  folder = base / str(version)
  model = Pointer(version)
  with files.atomic_path(folder) as partial:
    tf.saved_model.save(
      model,
      str(partial),
      signatures={
        "serving_default": model.point,
        "greedy": model.point,
        "beam": model.point,
        "sleep": model.sleep,
        "refuse": model.refuse,
      },
    )
    if warm_up:
      write_warmup_requests(partial)
  return folder


def write_warmup_requests(folder: pathlib.Path, feature_size: int = FEATURES) -> None:
  log = prediction_log_pb2.PredictionLog()
  for name, array in request(1, 2, feature_size=feature_size).items():
    log.predict_log.request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
  path = folder / "assets.extra" / "tf_serving_warmup_requests"
  path.parent.mkdir(exist_ok=True)
  with tf.io.TFRecordWriter(str(path)) as writer:
    writer.write(log.SerializeToString())


def request(
  pictures: int, regions: int, seed: int = 0, feature_size: int = FEATURES
) -> dict[str, np.ndarray]:
  rng = np.random.default_rng(seed)
  low = rng.uniform(0, 0.5, (pictures, regions, 2))
  return {
    "features": rng.normal(size=(pictures, regions, feature_size)).astype(np.float32),
    "boxes": np.concatenate([low, low + 0.5], -1).astype(np.float32),
    "num_regions": rng.integers(0, regions + 1, pictures).astype(np.int32),
  }


def expected(inputs: dict[str, np.ndarray], version: int) -> dict[str, np.ndarray]:
  """What `Pointer` answers, written with loops."""
  rows, regions, _ = inputs["features"].shape
  log_prob = np.zeros(rows, np.float32)
  box_index = np.full((rows, STEPS), -1, np.int32)
  attention = np.zeros((rows, STEPS, regions), np.float32)
  for row, count in enumerate(inputs["num_regions"]):
    log_prob[row] = inputs["features"][row, :count].sum() + version
    if count:
      box_index[row] = inputs["features"][row, :count, 0].argmax()
      attention[row, :, :count] = 1 / count
  return {"log_prob": log_prob, "box_index": box_index, "attention": attention}


class Namer(tf.Module):
  """Says "a X near a Y" of the first two labelled regions; `beam` says it the other way round."""

  SPECS = (
    tf.TensorSpec([None, None, 4], tf.float32, "boxes"),
    tf.TensorSpec([None, None], tf.string, "labels"),
    tf.TensorSpec([None], tf.int32, "num_regions"),
  )

  @tf.function(input_signature=SPECS)
  def greedy(self, boxes, labels, num_regions):
    return self._speak(boxes, labels, num_regions, tf.constant([0, 0, 1, 1, 1]))

  @tf.function(input_signature=SPECS)
  def beam(self, boxes, labels, num_regions):
    return self._speak(boxes, labels, num_regions, tf.constant([1, 1, 0, 0, 0]))

  def _speak(self, boxes, labels, num_regions, order):
    last = tf.maximum(tf.shape(labels)[1] - 1, 0)
    index = tf.repeat(tf.minimum(order, last)[tf.newaxis], tf.shape(boxes)[0], axis=0)  # [B, T]
    is_thing = tf.constant([False, True, False, False, True])
    spoken = tf.gather(labels, index, batch_dims=1)
    words = tf.where(is_thing, spoken, tf.constant(["a", "", "near", "a", ""]))
    others = tf.sequence_mask(num_regions, tf.shape(labels)[1], tf.float32)[:, tf.newaxis]
    attention = tf.one_hot(index, tf.shape(labels)[1]) * 0.7 + others * 0.1
    return {
      "caption": tf.strings.reduce_join(words, 1, separator=" "),
      "words": words,
      "box_index": index,
      "grounded": tf.repeat(is_thing[tf.newaxis], tf.shape(boxes)[0], axis=0),
      "box": tf.gather(boxes, index, batch_dims=1),
      "attention": attention / tf.reduce_sum(attention, -1, keepdims=True),
      "log_prob": -tf.ones_like(num_regions, tf.float32),
      "length": tf.fill(tf.shape(num_regions), 5),
    }


def save_namer(base: pathlib.Path, labels: tuple[str, ...] = ()) -> None:
  """Writes `base/1`, with a vocabulary if there are labels."""
  model = Namer()
  signatures = {"serving_default": model.greedy, "greedy": model.greedy, "beam": model.beam}
  tf.saved_model.save(model, str(base / "1"), signatures=signatures)
  if labels:
    (base / "1" / "assets.extra").mkdir()
    vocabularies.Vocabulary("captioner", ("", "a", "near", *labels), labels).save(
      base / "1" / "assets.extra" / "vocabulary.json"
    )
