"""Reads Up-Down weights of self-critical.pytorch and Grounded-Image-Captioning.

A PyTorch `Linear` stores its weight as [out, in], an `LSTMCell` as [4H, in] with gates in
the order i, f, g, o. The attention LSTM reads [h2; picture; word], the language LSTM
[context; h1]. The two biases of a cell are added.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gcap_tf import errors
from gcap_tf.captioners import updown
from gcap_tf.layers import region_input
from gcap_tf.text import vocabulary as vocabularies

Weights = Mapping[str, np.ndarray]

_CELL = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_NORM = ("weight", "bias", "running_mean", "running_var")
_MODELS = ("updown", "topdown")


def import_updown(
  weights: Weights, options: dict[str, Any], vocabulary: vocabularies.Vocabulary
) -> tuple[updown.UpDownConfig, updown.UpDownCaptioner]:
  """Builds the captioner that an official state dict describes.

  Args:
    weights: official name -> array.
    options: official options: `use_bn`, `logit_layers`, `use_box`, `norm_att_feat`,
      `drop_prob_lm`, and sizes, which are checked; others are ignored.
    vocabulary: the checkpoint's own words, in the captioner layout.
  """
  name = options.get("caption_model", "updown")
  if name not in _MODELS:
    raise errors.UserError(
      f'options: caption_model is "{name}"; this importer reads {" and ".join(_MODELS)}'
    )
  config = _config(weights, options, vocabulary)
  _check_options(config, options)
  _check_weights(weights, _shapes(config))
  model = updown.UpDownCaptioner(config)
  for variable, value in _assignments(model, weights):
    variable.assign(np.asarray(value, np.float32))
  return config, model


def _config(weights, options, vocabulary) -> updown.UpDownConfig:
  norms = int(options.get("use_bn", 0))
  if norms not in (0, 1, 2):
    raise errors.UserError(f"options: use_bn is {norms}; expected 0, 1 or 2")
  words = _matrix(weights, "embed.0.weight")
  picture = _matrix(weights, "fc_embed.0.weight")
  regions = _matrix(weights, f"att_embed.{_linear_index(norms)}.weight")
  keys = _matrix(weights, "ctx2att.weight")
  if words.shape[0] != vocabulary.size:
    raise errors.UserError(
      f"embed.0.weight has {words.shape[0]} rows, the vocabulary {vocabulary.size} words "
      "(the end of a sentence included): give the vocabulary that came with the weights"
    )
  use_box = bool(int(options.get("use_box", 0)))
  if use_box and int(options.get("norm_box_feat", 0)):
    raise errors.UserError(
      "options: norm_box_feat is 1; this importer reads box features without normalisation only"
    )
  feature_size = regions.shape[1] - (region_input.BOX_SIZE if use_box else 0)
  return updown.UpDownConfig(
    vocabulary_size=words.shape[0],
    feature_size=feature_size,
    global_size=picture.shape[1],
    # The released bottom-up features store the mean of the regions as `fc`.
    global_is_mean=picture.shape[1] == feature_size,
    use_box=use_box,
    embedding_size=words.shape[1],
    hidden_size=picture.shape[0],
    attention_size=keys.shape[0],
    dropout=float(options.get("drop_prob_lm", 0.5)),
    output_layers=int(options.get("logit_layers", 1)),
    batch_norms=norms,
    normalize_features=bool(int(options.get("norm_att_feat", 0))),
  )


def _check_options(config: updown.UpDownConfig, options: dict[str, Any]) -> None:
  sizes = {
    "rnn_size": config.hidden_size,
    "input_encoding_size": config.embedding_size,
    "att_hid_size": config.attention_size,
    "fc_feat_size": config.global_size,
  }
  for name, found in sizes.items():
    if name in options and int(options[name]) != found:
      raise errors.UserError(
        f"options: {name} is {options[name]}, but the weights have {found}: "
        "these options belong to another model"
      )


def _shapes(config: updown.UpDownConfig) -> dict[str, tuple[int, ...]]:
  """The shape of every key that the state dict must have."""
  v, e, h = config.vocabulary_size, config.embedding_size, config.hidden_size
  a, f = config.attention_size, config.feature_size
  f += region_input.BOX_SIZE if config.use_box else 0
  shapes = {"embed.0.weight": (v, e)}

  def linear(name, out, inputs):
    shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (out, inputs), (out,)

  def cell(name, inputs):
    sizes = ((4 * h, inputs), (4 * h, h), (4 * h,), (4 * h,))
    shapes.update({f"{name}.{part}": size for part, size in zip(_CELL, sizes, strict=True)})

  linear("fc_embed.0", h, config.global_size)
  linear(f"att_embed.{_linear_index(config.batch_norms)}", h, f)
  for index, size in ((0, f), (4, h))[: config.batch_norms]:
    shapes.update({f"att_embed.{index}.{part}": (size,) for part in _NORM})
  linear("ctx2att", a, h)
  cell("core.att_lstm", 2 * h + e)
  cell("core.lang_lstm", 2 * h)
  linear("core.attention.h2att", a, h)
  linear("core.attention.alpha_net", 1, a)
  *deep, last = _output_names(config.output_layers)
  for name in deep:
    linear(name, h, h)
  linear(last, v, h)
  return shapes


def _check_weights(weights: Weights, shapes: dict[str, tuple[int, ...]]) -> None:
  for name, expected in shapes.items():
    if name not in weights:
      raise errors.UserError(f"weights: {name} {list(expected)} is missing; {_hint(weights)}")
    if tuple(weights[name].shape) != expected:
      raise errors.UserError(
        f"weights: {name} is {list(weights[name].shape)}, expected {list(expected)}"
      )
    if not np.isfinite(weights[name]).all():
      raise errors.UserError(f"weights: {name} holds values that are not finite")
  for name in weights:
    if name not in shapes and not name.endswith("num_batches_tracked"):
      raise errors.UserError(f"weights: Up-Down has no part for {name}; {_hint(weights)}")


def _hint(weights: Weights) -> str:
  if any(re.fullmatch(r"att_embed\.\d+\.running_mean", name) for name in weights):
    return "the weights have batch norms: is use_bn in the options right?"
  if "logit.0.weight" in weights:
    return "the output has several layers: is logit_layers in the options right?"
  return "is this the state dict of an Up-Down model, saved with numpy.savez?"


def _matrix(weights: Weights, name: str) -> np.ndarray:
  if name not in weights:
    raise errors.UserError(f"weights: {name} is missing; {_hint(weights)}")
  if weights[name].ndim != 2:
    raise errors.UserError(f"weights: {name} has {weights[name].ndim} dimensions, expected 2")
  return weights[name]


def _linear_index(norms: int) -> int:
  return 1 if norms else 0


def _output_names(layers: int) -> list[str]:
  """The linear layers in blocks of (Linear, ReLU, Dropout): numbers 0, 3, 6, ..."""
  return ["logit"] if layers == 1 else [f"logit.{3 * n}" for n in range(layers)]


def _assignments(model: updown.UpDownCaptioner, weights: Weights):
  """Pairs of a variable and its official value."""

  def linear(layer, name):
    yield layer.kernel, weights[f"{name}.weight"].T
    yield layer.bias, weights[f"{name}.bias"]

  norms, attention = model.config.batch_norms, model.region_attention
  yield model.words.embeddings, weights["embed.0.weight"]
  yield from linear(model.encode_picture, "fc_embed.0")
  yield from linear(model.encode_region, f"att_embed.{_linear_index(norms)}")
  for layer, index in zip(model.norms, (0, 4), strict=False):
    variables = (layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)
    for variable, part in zip(variables, _NORM, strict=True):
      yield variable, weights[f"att_embed.{index}.{part}"]
  yield from linear(attention.key_map, "ctx2att")
  yield from linear(attention.query_map, "core.attention.h2att")
  yield attention.score_kernel, weights["core.attention.alpha_net.weight"]
  yield attention.score_bias, weights["core.attention.alpha_net.bias"]
  yield from _cell_assignments(model, weights)
  layers = [*model.deep_output, model.word_output]
  for layer, name in zip(layers, _output_names(len(layers)), strict=True):
    yield from linear(layer, name)


def _cell_assignments(model: updown.UpDownCaptioner, weights: Weights):
  h = model.config.hidden_size
  inputs, recurrent, *biases = (weights[f"core.att_lstm.{part}"] for part in _CELL)
  cell = model.attention_lstm
  from_h2, from_picture, from_word = np.split(inputs.T, [h, 2 * h])
  yield cell.input_kernels[0], from_picture
  yield cell.input_kernels[1], from_word
  yield cell.step_kernel, np.concatenate([from_h2, recurrent.T])
  yield cell.bias, sum(biases)
  inputs, recurrent, *biases = (weights[f"core.lang_lstm.{part}"] for part in _CELL)
  cell = model.language_lstm
  yield cell.step_kernel, np.concatenate([inputs.T, recurrent.T])
  yield cell.bias, sum(biases)
