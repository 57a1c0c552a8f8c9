"""GVD (Zhou et al., "Grounded Video Description", CVPR 2019, arXiv:1812.06587).

    g_i = Drop(ReLU(W_7 r_i + b_7))                 the region's feature
    M_{c,i} = Drop(ReLU(E_c)) · g_i + b_c           logits of C classes and the background (0)
    m_i = softmax_c(M_{:,i})                        the region's class
    l_i = Drop(ReLU(W_l loc_i + b_l))               its place (and its time in a video)
    R_i = Drop(ReLU(W_r [LN(g_i); LN(l_i); LN(m_i)]))
    h1  = LSTM1([v_g; x_t])                         without h2
    h2  = LSTM2([Σ_i α_i R_i + û_t; h1])            û_t: attention over the grid u_j

The grid is any second set of vectors: cells of a convolution map, or frames of a video.
If a batch has one, it has `grid_features` [I, J, grid_size] and `grid_mask` [I, J].

A picture is a video of one frame. If there are more, the frame of a region is part of its place;
u_j come from a bidirectional GRU over all frames of the video (`layers/frame_encoder.py`), and
attention sees those of the segment alone (`segment` [I, 2], first and one past the last):

    v_g = Drop(ReLU(W [LN(mean_j f_j); LN(Drop(ReLU(W_s s + b_s)))]))
    s   = (number of the segment, segments of the video, start / duration, end / duration)

Departures from the released code: class rows start small instead of from a detector's weights;
every attention masks padding; the released attention over frames gives weight to slots outside
the segment, whose vectors are 0 (`temporal_leak` restores it); the start and end in s are not
cut to integers, which Cyclical's program does not do either.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.captioners import base, localizer, topdown, topdown_config
from gcap_tf.layers import (
  additive_attention,
  dropout,
  frame_encoder,
  linear,
  masking,
  object_interaction,
)

POSITION = 4  # numbers of the position of a segment in its video
_SALT = topdown.PICTURE_SALT


@dataclasses.dataclass(frozen=True)
class GVDConfig(topdown_config.TopDownConfig):
  """Options of GVD alone.

  Attributes:
    region_size: size of g_i.
    location_size: size of l_i.
    num_classes: object classes C that regions are sorted into; 0 leaves them out.
    grid_size: of a grid feature; 0 if the data has no grid.
    num_frames: frames of a video; above 1, the frame of a region is part of its location.
    frame_layers: layers of the GRU over a grid of frames; 0 if the grid has cells of a picture.
    frame_parts: sizes of the parts of a frame's feature that have maps of their own: appearance
      2048 and motion 1024 in GVD; () is one part.
    segment_size: size of the encoded position s of a segment, the last 4 numbers of the global
      feature; 0 if it has none.
    temporal_leak: the attention over frames sees empty slots outside the segment, too.
    interaction_layers: layers of self-attention among regions; 2 in the supervised model.
    interaction_heads: heads of that self-attention.
    shared_attention: regions and grid share the weights of the attention, except the keys.
  """

  hidden_size: configs.PositiveInt = 1024
  feedback: bool = False
  region_size: configs.PositiveInt = 2048
  location_size: configs.PositiveInt = 300
  num_classes: configs.Count = 0
  grid_size: configs.Count = 0
  num_frames: configs.PositiveInt = 1
  frame_layers: configs.Count = 0
  frame_parts: tuple[configs.PositiveInt, ...] = ()
  segment_size: configs.Count = 0
  temporal_leak: bool = False
  interaction_layers: configs.Count = 0
  interaction_heads: configs.PositiveInt = 6
  shared_attention: bool = False


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("gvd")
class GVDCaptioner(topdown.TopDownCaptioner):
  Config = GVDConfig

  def __init__(self, config: GVDConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    inputs, hidden, size = self.region_input.size, config.hidden_size, config.region_size
    self.refine_region = linear.dense(inputs, size, name="refine_region")
    self.location = linear.dense(_location_size(config), config.location_size, name="location")
    parts = size + config.location_size
    self.classes = None
    if config.num_classes:
      # The columns of the kernel are the classes: E_c of the equations, before the ReLU.
      self.classes = linear.dense(size, config.num_classes + 1, name="classes")
      parts += config.num_classes + 1
    self.encode_region = linear.dense(parts, hidden, name="encode_region")
    overall = config.global_size or inputs
    if config.segment_size:
      self.encode_position = linear.dense(POSITION, config.segment_size, name="encode_position")
      overall += config.segment_size - POSITION
    self.encode_picture = linear.dense(overall, hidden, name="encode_picture")
    self.interaction = None
    if config.interaction_layers:
      self.interaction = object_interaction.ObjectInteraction(
        hidden, config.interaction_layers, config.interaction_heads, name="interaction"
      )
    if config.grid_size and config.shared_attention and config.heads > 1:
      raise errors.UserError("heads above 1 cannot share their weights with a grid's attention")
    if config.grid_size:
      self.encode_grid = self._grid_encoder(config)
      if config.shared_attention:
        self.grid_key_map = linear.dense(hidden, config.attention_size, name="grid_key_map")
      else:
        self.grid_attention = additive_attention.AdditiveAttention(
          hidden, hidden, config.attention_size, name="grid_attention"
        )

  def _grid_encoder(self, config: GVDConfig) -> keras.layers.Layer:
    if not config.frame_layers:
      return linear.dense(config.grid_size, config.hidden_size, name="encode_grid")
    parts = config.frame_parts or (config.grid_size,)
    if sum(parts) != config.grid_size:
      raise errors.UserError(
        f"frame_parts={list(parts)} add up to {sum(parts)}, frames have {config.grid_size} "
        "features; name the parts of the data"
      )
    return frame_encoder.FrameEncoder(
      parts,
      config.hidden_size,
      config.frame_layers,
      config.dropout,
      config.temporal_leak,
      name="encode_grid",
    )

  @property
  def num_classes(self) -> int:
    return self.config.num_classes

  @property
  def num_frames(self) -> int:
    return self.config.num_frames

  @property
  def unknown_words(self) -> str:
    """GVD's program takes the next best word instead of UNK."""
    return "second_best"

  def encode(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Memory:
    memory = {
      "region_mask": batch["region_mask"],
      "boxes": batch["boxes"],
      **self._label_rows(batch),
    }
    if self.config.num_frames > 1:
      memory["frame"] = batch["frame"]
    inputs = self.region_input(batch)  # [I, R, D]
    refined = self._drop(tf.nn.relu(self.refine_region(inputs)), seed, 0)
    location = self._drop(tf.nn.relu(self.location(self._locations(batch))), seed, 1)
    parts = [layer_norm(refined), layer_norm(location)]
    if self.classes is not None:
      memory["class_logits"] = self._classify(refined, seed)  # [I, R, C + 1]
      parts.append(layer_norm(tf.nn.softmax(memory["class_logits"])))
    regions = self._drop(tf.nn.relu(self.encode_region(tf.concat(parts, -1))), seed, 2)
    if self.interaction is not None:
      regions = self.interaction(regions, batch["region_mask"], seed)
    overall = self._overall(batch, inputs, seed)
    picture = self._drop(tf.nn.relu(self.encode_picture(overall)), seed, 3)
    memory["regions"] = regions
    memory["keys"] = self.region_attention.keys(regions)
    memory["gates"] = self.attention_lstm.project(0, picture)
    return memory | self._encode_grid(batch, seed)

  def _locations(self, batch: base.Batch) -> tf.Tensor:
    """x1, y1, x2, y2 and, in a video, the frame, all from 0 to 1."""
    if self.config.num_frames == 1:
      return batch["boxes"]
    frame = tf.cast(batch["frame"], tf.float32)[..., tf.newaxis] / self.config.num_frames
    return tf.concat([batch["boxes"], frame], -1)

  def _overall(self, batch: base.Batch, inputs: tf.Tensor, seed: tf.Tensor | None) -> tf.Tensor:
    """The vector of the whole picture; of a video, with the position of the segment in it."""
    overall = self.region_input.overall(batch, inputs, self.config.global_size)
    if not self.config.segment_size:
      return overall
    mean, position = tf.split(overall, [overall.shape[-1] - POSITION, POSITION], axis=-1)
    position = self._drop(tf.nn.relu(self.encode_position(position)), seed, 6)
    return tf.concat([layer_norm(mean), layer_norm(position)], -1)

  def _classify(self, refined: tf.Tensor, seed: tf.Tensor | None) -> tf.Tensor:
    rows = self._drop(tf.nn.relu(tf.convert_to_tensor(self.classes.kernel)), seed, 4)
    return tf.tensordot(refined, rows, 1) + self.classes.bias

  def _encode_grid(self, batch: base.Batch, seed: tf.Tensor | None) -> base.Memory:
    if not self.config.grid_size:
      return {}
    if "grid_features" not in batch:
      raise errors.UserError(
        f"the captioner reads a grid of {self.config.grid_size} features a cell, and the batch has "
        "none; prepare the data with regions that have a grid, or set options.grid_size=0"
      )
    grid_mask = batch["grid_mask"]
    if self.config.frame_layers:
      grid = self.encode_grid(batch["grid_features"], grid_mask, seed, salt=_SALT + 7)
      grid_mask = in_segment(batch)
      if self.config.temporal_leak:
        grid = tf.where(grid_mask[..., tf.newaxis], grid, 0.0)
        grid_mask = tf.ones_like(grid_mask)
    else:
      grid = self._drop(tf.nn.relu(self.encode_grid(batch["grid_features"])), seed, 5)
    shared = self.config.shared_attention
    keys = self.grid_key_map(grid)[:, tf.newaxis] if shared else self.grid_attention.keys(grid)
    return {"grid": grid, "grid_keys": keys, "grid_mask": grid_mask}

  def _drop(self, x: tf.Tensor, seed: tf.Tensor | None, place: int) -> tf.Tensor:
    return dropout.dropout(x, self.config.dropout, seed, _SALT + place)

  def _attend(self, memory, query, multiply):
    seen = super()._attend(memory, query, multiply)
    if "grid" not in memory:
      return seen
    attention = self.region_attention if self.config.shared_attention else self.grid_attention
    grid_weights = masking.masked_softmax(
      attention(memory["grid_keys"], query), memory["grid_mask"][:, tf.newaxis, tf.newaxis]
    )
    context = seen["context"] + additive_attention.attend(grid_weights, memory["grid"])
    return {**seen, "context": context}

  def _localize(self, memory, query):
    context, attention = super()._localize(memory, query)
    if "grid" not in memory:
      return context, attention
    grid_context, _ = localizer.localize(
      query, memory["grid_keys"][:, 0], memory["grid"], memory["grid_mask"]
    )
    return context + grid_context, attention


def in_segment(batch: base.Batch) -> tf.Tensor:
  """Real frames that belong to the segment, bool [I, C]; all real ones if the batch has none."""
  if "segment" not in batch:
    return batch["grid_mask"]
  first, end = tf.split(batch["segment"], 2, axis=1)  # [I, 1] each
  frame = tf.range(tf.shape(batch["grid_mask"])[1])
  return batch["grid_mask"] & (first <= frame) & (frame < end)


def layer_norm(x: tf.Tensor) -> tf.Tensor:
  """Layer norm without weights, ε 1e-5."""
  mean, variance = tf.nn.moments(x, -1, keepdims=True)
  return (x - mean) * tf.math.rsqrt(variance + 1e-5)


def _location_size(config: GVDConfig) -> int:
  return 4 if config.num_frames == 1 else 5
