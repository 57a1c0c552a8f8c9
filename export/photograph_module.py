"""The served form of a captioner of photographs: bytes in, words and their boxes out.

| signature                          | what it does                                   |
|------------------------------------|------------------------------------------------|
| `serving_default`, `caption_image` | the most likely word at every step             |
| `caption_image_beam`               | the most likely of N captions                  |
| `greedy`, `beam`                   | the same for regions, see `captioner_module`   |

Input of the first two: `image_bytes` string [B], each a JPEG, PNG, GIF or BMP file of any size.
Outputs: those of `captioner_module`, and what was seen, with R regions:

    region_boxes    float32 [B, R, 4]  best first; `box_index` counts them from 0
    region_labels   string [B, R]      the detector's most likely word, "" after the last region
    region_colours  string [B, R]      its most likely colour
    region_scores   float32 [B, R]     how likely the box holds a thing
    num_regions     int32 [B]
    image_size      int32 [B, 2]       width and height of the upright picture, 0 if it is damaged
    error           string [B]         why there is no caption; "" if there is one

The graph holds core TensorFlow operations only.
"""

from typing import Any

import tensorflow as tf

from export import captioner_module
from gcap_tf import batch as batches
from gcap_tf.decoding import config as decode_config
from gcap_tf.runs import photograph_runs
from gcap_tf.vision import region_graph

IMAGE_BYTES = "image_bytes"
GREEDY, BEAM = "caption_image", "caption_image_beam"
REGION_OUTPUTS = (
  *("region_boxes", "region_labels", "region_colours", "region_scores", "num_regions"),
  *("image_size", "error"),
)
_INPUTS = {IMAGE_BYTES: tf.TensorSpec([None], tf.string, IMAGE_BYTES)}
# What a captioner reads of a picture; which picture it is does not count.
_READ = [name for name in batches.names(["regions"]) if batches.ENTRIES[name].parts]


class PhotographModule(captioner_module.CaptionerModule):
  """The exported graph of a captioner and its detector."""

  def __init__(
    self, photographs: photograph_runs.PhotographRun, *, webp: bool = False, **options: Any
  ):
    """Keeps the parts; `signatures` traces them.

    Args:
      photographs: captioner and detector, with their weights.
      webp: whether to decode WebP as well, which older programs cannot load.
      **options: of `CaptionerModule`.
    """
    run, found = photographs.run, photographs.detector
    super().__init__(run.model, run.vocabulary, others=(found.detector,), **options)
    recipe = photographs.recipe
    graph = region_graph.RegionGraph(found.detector, recipe.regions, recipe.min_score, webp)
    self._graph = lambda: graph  # a lambda is not tracked, so the detector is not saved twice
    self._labels, self._colours = list(found.labels), list(found.colours)
    ids = run.vocabulary.label_ids
    self._label_ids = [ids.get(label, 0) for label in found.labels]

  def specs(self, signature: str) -> dict[str, tf.TensorSpec]:
    """The inputs of a signature."""
    if signature in (GREEDY, BEAM, "serving_default"):
      return dict(_INPUTS)
    return super().specs(signature)

  def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
    """Returns name -> traced function, for `tf.saved_model.save`."""
    of_regions = super().signatures()
    traced = {
      name: tf.function(getattr(self, name), autograph=False).get_concrete_function(**_INPUTS)
      for name in (GREEDY, BEAM)
    }
    return of_regions | traced | {"serving_default": traced[GREEDY]}

  def python_answer(self, signature: str, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Computes a signature with the model in memory, to compare with the saved one."""
    method = GREEDY if signature == "serving_default" else signature
    return getattr(self, method)(**inputs)

  def caption_image(self, image_bytes: tf.Tensor) -> dict[str, tf.Tensor]:
    return self.caption_files(image_bytes, self._decode_configs["greedy"])

  def caption_image_beam(self, image_bytes: tf.Tensor) -> dict[str, tf.Tensor]:
    return self.caption_files(image_bytes, self._decode_configs["beam"])

  def caption_files(
    self, files: tf.Tensor, config: decode_config.DecodeConfig
  ) -> dict[str, tf.Tensor]:
    """The answer for picture files [B], with words chosen as `config` says."""
    rows = tf.shape(files)[0]
    at_least_one = tf.pad(files, [[0, tf.maximum(1 - rows, 0)]])
    with self.weights.scope():
      found = self._graph()(at_least_one)
    answer = self.caption_regions(found, config)
    return {name: value[:rows] for name, value in answer.items()}

  def caption_regions(
    self, found: dict[str, tf.Tensor], config: decode_config.DecodeConfig
  ) -> dict[str, tf.Tensor]:
    """The answer for regions that were found in photographs.

    Args:
      found: of `region_graph.RegionGraph`.
      config: how words are chosen.
    """
    decoded = self._decode(self._batch(found), config)
    decoded = _blank_damaged(decoded, found["problem"] == "")
    real, regions = found["region_mask"], tf.shape(found["boxes"])[1]
    answer = self._answer(decoded, real, regions, config.max_length)
    shape = [None, config.max_length, found["boxes"].shape[1]]
    return answer | {
      "attention": tf.ensure_shape(answer["attention"], shape),
      "region_boxes": found["boxes"],
      "region_labels": tf.where(real, tf.gather(self._labels, found["region_labels"]), ""),
      "region_colours": tf.where(real, tf.gather(self._colours, found["region_colours"]), ""),
      "region_scores": found["region_scores"],
      "num_regions": tf.reduce_sum(tf.cast(real, tf.int32), 1),
      "image_size": found["image_size"],
      "error": found["problem"],
    }

  def _batch(self, found: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What the captioner reads of the regions."""
    config, real = self._captioner().config, found["region_mask"]
    ids = tf.gather(self._label_ids, found["region_labels"])
    batch = {
      "boxes": found["boxes"],
      "region_mask": real,
      "region_labels": tf.where(real, ids, 0),
    }
    if config.feature_size:
      batch["features"] = found["features"]
      count = tf.maximum(tf.reduce_sum(tf.cast(real, tf.float32), 1, keepdims=True), 1.0)
      mean = tf.reduce_sum(found["features"], 1) / count
      own = config.global_size and not config.global_is_mean
      batch["global_feature"] = found["global_feature"] if own else mean
    if getattr(config, "grid_size", 0):
      grid = found["grid_features"]
      batch.update(grid_features=grid, grid_mask=tf.ones(tf.shape(grid)[:2], tf.bool))
    shape = tf.shape(real)
    sizes = {"I": shape[0], "R": shape[1], "D": config.feature_size, "G": 0}
    return batches.complete(batch, _READ, sizes)

  def decoding(self, method: str) -> decode_config.DecodeConfig:
    """The options of "greedy" or "beam"."""
    return self._decode_configs[method]


def _blank_damaged(decoded: dict[str, tf.Tensor], is_fine: tf.Tensor) -> dict[str, tf.Tensor]:
  """No words for pictures that could not be decoded; is_fine is bool [B]."""
  blank = {"tokens": tf.where(is_fine[:, tf.newaxis], decoded["tokens"], 0)}
  for name in ("length", "log_prob", "score"):
    blank[name] = tf.where(is_fine, decoded[name], tf.zeros_like(decoded[name]))
  return decoded | blank
