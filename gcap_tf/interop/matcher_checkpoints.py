"""Reads official matcher checkpoints: SCAN, POS-SCAN, BFAN, PFAN and SGRAF.

Weights have their PyTorch names, with the part of the model as a prefix
(`img_enc.fc.weight`, `txt_enc.embed.weight`, `sim_enc.sim_eval_w.weight`). Linear weights
are (out, in) there and (in, out) here; recurrent gates are in the order r, z, n in both.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import numpy as np

from gcap_tf import errors
from gcap_tf.interop import matcher_options
from gcap_tf.layers import gru, self_attention
from gcap_tf.matchers import attention, catalog, pfan, sgraf
from gcap_tf.text import vocabulary as vocabularies

Weights = Mapping[str, np.ndarray]
# Counters of PyTorch, and a bias that a softmax cancels. The model does not need them.
IGNORED_ENDINGS = ("num_batches_tracked", "graph_key_w.bias")


@dataclasses.dataclass(frozen=True)
class Slot:
  """One official key, the variable that it fills, and the layout of the official array.

  Attributes:
    key: official name.
    variable: our variable.
    shape: shape of the official array.
    convert: converts the official array to the variable's layout.
  """

  key: str
  variable: keras.Variable
  shape: tuple[int, ...]
  convert: Callable[[np.ndarray], np.ndarray]


def import_matcher(
  family: str, weights: Weights, options: Mapping[str, Any], vocabulary: vocabularies.Vocabulary
) -> tuple[str, attention.AttentionMatcher]:
  """Builds the matcher that an official checkpoint describes.

  Args:
    family: "scan", "bfan", "pfan" or "sgraf".
    weights: official name -> array.
    options: official option name -> value; missing ones have the official default.
    vocabulary: the checkpoint's own; ids cannot be rebuilt from captions.

  Returns:
    The registered name of the matcher, and the matcher with its weights.
  """
  rows = len(weights.get("txt_enc.embed.weight", ()))
  if rows and rows != vocabulary.size:
    raise errors.UserError(
      f"txt_enc.embed.weight has {rows} rows but the vocabulary has {vocabulary.size} words; "
      "give the vocabulary file that belongs to this checkpoint"
    )
  reads_backwards = any(key.endswith("_l0_reverse") for key in weights)
  name, config = matcher_options.matcher_config(family, options, vocabulary.size, reads_backwards)
  config = _sizes_from_weights(name, config, weights)
  matcher = catalog.MATCHERS.get(name)(config)
  fill(list(matcher_slots(name, matcher)), weights)
  return name, matcher


def fill(slots: list[Slot], weights: Weights) -> None:
  """Assigns every slot; a key that is missing, unknown or of a wrong shape is a `UserError`."""
  known = {slot.key: slot for slot in slots}
  missing = [key for key in known if key not in weights]
  extra = [key for key in weights if key not in known and not key.endswith(IGNORED_ENDINGS)]
  if missing:
    hint = f" (they have {extra[0]}, which these options do not use)" if extra else ""
    raise errors.UserError(
      f"weights lack {_some(missing)}{hint}; check the options, or the prefix of the keys"
    )
  if extra:
    raise errors.UserError(
      f"weights have {_some(extra)}, which these options do not use; check the options"
    )
  for key, slot in known.items():
    array = np.asarray(weights[key])
    if array.shape != slot.shape and (array.size != 1 or np.prod(slot.shape) != 1):
      raise errors.UserError(f"{key} has shape {array.shape} but the options ask for {slot.shape}")
    if not np.isfinite(array).all():
      raise errors.UserError(f"{key} holds numbers that are not finite; the file is damaged")
    slot.variable.assign(slot.convert(array.reshape(slot.shape)).astype(np.float32))


def _some(keys: list[str]) -> str:
  rest = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
  return keys[0] + rest


def _sizes_from_weights(name: str, config: Any, weights: Weights) -> Any:
  """The config with the size that the official program fixes in its code, read from an array."""
  if name not in _FIXED_SIZES:
    return config
  key, rank, option = _FIXED_SIZES[name]
  array = weights.get(key)
  if array is None or array.ndim != rank:
    return config
  return dataclasses.replace(config, **{option: array.shape[-1]})


def matcher_slots(name: str, matcher: attention.AttentionMatcher) -> Iterator[Slot]:
  """Every official key of a matcher, encoders first."""
  yield from _region_slots(matcher)
  text, rnn = matcher.text_encoder, _RECURRENT.get(name, "txt_enc.rnn")
  yield _same("txt_enc.embed.weight", text.embedding)
  yield from _gru_slots(rnn, "", text.forward_gru)
  if text.backward_gru is not None:
    yield from _gru_slots(rnn, "_reverse", text.backward_gru)
  if name in _OTHER_SLOTS:
    yield from _OTHER_SLOTS[name](matcher)


def _region_slots(matcher: attention.AttentionMatcher) -> Iterator[Slot]:
  encoder = matcher.region_encoder
  if encoder.kind == "weight_norm":
    yield _same("img_enc.fc.weight_g", encoder.gain)
    yield _transposed("img_enc.fc.weight_v", encoder.kernel)
  else:
    yield _transposed("img_enc.fc.weight", encoder.kernel)
  yield _same("img_enc.fc.bias", encoder.bias)


def _position_slots(matcher: pfan.PFANMatcher) -> Iterator[Slot]:
  position = matcher.position_attention
  yield _transposed("img_enc.fc_att.weight", position.kernel)
  yield _same("img_enc.fc_att.bias", position.bias)
  yield _same("img_enc.position_embedding.weight", position.embedding)


def _gru_slots(prefix: str, suffix: str, layer: gru.PackedGRU) -> Iterator[Slot]:
  yield _transposed(f"{prefix}.weight_ih_l0{suffix}", layer.kernel)
  yield _transposed(f"{prefix}.weight_hh_l0{suffix}", layer.recurrent_kernel)
  yield _same(f"{prefix}.bias_ih_l0{suffix}", layer.bias)
  yield _same(f"{prefix}.bias_hh_l0{suffix}", layer.recurrent_bias)


def _similarity_slots(matcher: sgraf.SGRAFMatcher) -> Iterator[Slot]:
  yield from _self_attention_slots("sim_enc.v_global_w", matcher.picture_vector)
  yield from _self_attention_slots("sim_enc.t_global_w", matcher.caption_vector)
  yield from _linear("sim_enc.sim_tranloc_w", matcher.local_projection)
  yield from _linear("sim_enc.sim_tranglo_w", matcher.global_projection)
  yield from _linear("sim_enc.sim_eval_w", matcher.readout)
  head = matcher.head
  if matcher.config.head == "SAF":
    size = head.kernel.shape[0]
    yield Slot("sim_enc.SAF_module.attn_sim_w.weight", head.kernel, (1, size), np.ravel)
    yield Slot("sim_enc.SAF_module.attn_sim_w.bias", head.bias, (1,), lambda a: a.reshape(()))
    yield from _batch_norm("sim_enc.SAF_module.bn", head.norm)
    return
  for index, step in enumerate(head.steps):
    prefix = f"sim_enc.SGR_module.{index}"
    yield from _linear(f"{prefix}.graph_query_w", step.query)
    yield _transposed(f"{prefix}.graph_key_w.weight", step.key_kernel)
    yield from _linear(f"{prefix}.sim_graph_w", step.update)


def _self_attention_slots(prefix: str, layer: self_attention.SelfAttention) -> Iterator[Slot]:
  yield from _linear(f"{prefix}.embedding_local.0", layer.local)
  yield from _linear(f"{prefix}.embedding_global.0", layer.overall)
  yield from _linear(f"{prefix}.embedding_common.0", layer.common)
  if layer.slots:
    yield from _batch_norm(f"{prefix}.embedding_local.1", layer.local_norm)
    yield from _batch_norm(f"{prefix}.embedding_global.1", layer.overall_norm)


def _batch_norm(prefix: str, layer: Any) -> Iterator[Slot]:
  yield _same(f"{prefix}.weight", layer.gamma)
  yield _same(f"{prefix}.bias", layer.beta)
  yield _same(f"{prefix}.running_mean", layer.moving_mean)
  yield _same(f"{prefix}.running_var", layer.moving_variance)


def _linear(prefix: str, layer: keras.layers.Dense) -> Iterator[Slot]:
  yield _transposed(f"{prefix}.weight", layer.kernel)
  yield _same(f"{prefix}.bias", layer.bias)


def _same(key: str, variable: keras.Variable) -> Slot:
  return Slot(key, variable, tuple(variable.shape), lambda array: array)


def _transposed(key: str, variable: keras.Variable) -> Slot:
  return Slot(key, variable, tuple(variable.shape)[::-1], np.transpose)


# By registered name: keys besides those of the encoders, another prefix of the recurrent layer,
# and an option that is the last axis of an array of this key and rank.
_OTHER_SLOTS: dict[str, Callable[[Any], Iterator[Slot]]] = {
  "pfan": _position_slots,
  "sgraf": _similarity_slots,
}
_RECURRENT = {"sgraf": "txt_enc.cap_rnn"}
_FIXED_SIZES = {
  "pfan": ("img_enc.position_embedding.weight", 2, "position_size"),
  "sgraf": ("sim_enc.v_global_w.embedding_local.1.weight", 1, "regions"),
}
