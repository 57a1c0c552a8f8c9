"""Up-Down (Anderson et al., CVPR 2018, arXiv:1707.07998), as POS-SCAN trains it.

    v_i = Drop(ReLU(W_v r_i + b_v))      v̄ = Drop(ReLU(W_fc fc + b_fc))
    p_i = W_p v_i + b_p                   x_t = Drop(ReLU(Emb[w_(t-1)]))
    (h1, c1) = LSTM1([h2; v̄; x_t])       β_t = softmax_i(w_a · tanh(p_i + W_h h1) + b_a)
    (h2, c2) = LSTM2([Σ_i β_i v_i; h1])   log p = log_softmax(W_o Drop(h2) + b_o)

Dropout masks of v and v̄ are drawn once per pass, those of x_t and h2 at every step.

Departure from the paper, as in the released code: v̄ is a map of the mean feature, not the mean
of the v_i. Departure from the released code: `use_box` appends boxes to the regions and does
not sort the regions by area.
"""

import dataclasses
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf.captioners import base, topdown, topdown_config
from gcap_tf.layers import batch_norm, dropout, linear


@dataclasses.dataclass(frozen=True)
class UpDownConfig(topdown_config.TopDownConfig):
  """Options of Up-Down alone.

  Attributes:
    batch_norms: 1 normalises region inputs over the batch, 2 also encoded regions.
    normalize_features: scales region features to unit length.
  """

  batch_norms: Literal[0, 1, 2] = 0
  normalize_features: bool = False


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("updown")
class UpDownCaptioner(topdown.TopDownCaptioner):
  Config = UpDownConfig

  def __init__(self, config: UpDownConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    self.region_input.normalize = config.normalize_features
    inputs, hidden = self.region_input.size, config.hidden_size
    self.encode_region = linear.dense(inputs, hidden, name="encode_region")
    self.encode_picture = linear.dense(config.global_size or inputs, hidden, name="encode_picture")
    self.norms = [
      batch_norm.BatchNorm(size, name=name)
      for size, name in ((inputs, "norm_inputs"), (hidden, "norm_regions"))[: config.batch_norms]
    ]

  def encode(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Memory:
    rate, region_mask = self.config.dropout, batch["region_mask"]
    inputs = self.region_input(batch)  # [I, R, D]
    overall = self.region_input.overall(batch, inputs, self.config.global_size)
    if self.norms:
      inputs = self._normalise(0, inputs, region_mask, seed)
    regions = tf.nn.relu(self.encode_region(inputs))
    regions = dropout.dropout(regions, rate, seed, topdown.PICTURE_SALT)
    if len(self.norms) > 1:
      regions = self._normalise(1, regions, region_mask, seed)
    picture = tf.nn.relu(self.encode_picture(overall))
    picture = dropout.dropout(picture, rate, seed, topdown.PICTURE_SALT + 1)
    return self._label_rows(batch) | {
      "regions": regions,  # [I, R, H]
      "keys": self.region_attention.keys(regions),  # [I, K, R, A]
      "gates": self.attention_lstm.project(0, picture),  # [I, 4H]
      "region_mask": region_mask,
      "boxes": batch["boxes"],
    }

  def _normalise(self, number: int, x: tf.Tensor, region_mask: tf.Tensor, seed) -> tf.Tensor:
    counted = region_mask[..., tf.newaxis]
    return self.norms[number](x, axis=2, counted=counted, training=seed is not None)
