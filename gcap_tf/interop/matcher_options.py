"""Option names of the official matcher programs, and their defaults.

Options that do not change the network (paths, learning rates, ...) are ignored. SGRAF's flags
`--bi_gru` and `--max_violation` are on by default and turn off if given, unlike in the other
programs; only their stored values matter here.
"""

import typing
from collections.abc import Mapping
from typing import Any

from gcap_tf import errors
from gcap_tf.layers import cross_attention
from gcap_tf.matchers import attention, bfan, pfan, pos_scan, scan, sgraf

_ENCODER_DEFAULTS = {
  "img_dim": 2048,
  "word_dim": 300,
  "embed_size": 1024,
  "no_imgnorm": False,
  "no_txtnorm": False,
  "precomp_enc_type": "basic",
}
_SCAN_DEFAULTS = {
  "cross_attn": "t2i",
  "raw_feature_norm": "clipped_l2norm",
  "agg_func": "LogSumExp",
  "lambda_lse": 6.0,
  "lambda_softmax": 9.0,
}
_AGGREGATIONS = {"Mean": "mean", "Sum": "sum", "Max": "max", "LogSumExp": "log_sum_exp"}
_RAW_NORMS = typing.get_args(cross_attention.RawNorm)


def matcher_config(
  family: str, options: Mapping[str, Any], vocabulary_size: int, reads_backwards: bool
) -> tuple[str, attention.EncoderConfig]:
  """The registered name and the config of the matcher that official options describe.

  Args:
    family: one of FAMILIES.
    options: official name -> value.
    vocabulary_size: V.
    reads_backwards: whether the weights hold a backward GRU, for options without `bi_gru`.
  """
  if family not in FAMILIES:
    raise errors.UserError(f'unknown family "{family}"; known: {", ".join(FAMILIES)}')
  encoder = _encoder(family, options, vocabulary_size, reads_backwards)
  return _CONFIGS[family](encoder, options)


def _scan_config(encoder: dict[str, Any], options: Mapping[str, Any]):
  if options.get("pos"):
    return "pos_scan", pos_scan.POSSCANConfig(**encoder, **_scoring(options))
  return "scan", scan.SCANConfig(**encoder, **_scoring(options))


def _bfan_config(encoder: dict[str, Any], options: Mapping[str, Any]):
  return "bfan", bfan.BFANConfig(
    **encoder,
    focus=_choice(options, "focal_type", "equal", ("equal", "prob")),
    lambda_softmax=_number(options, "lambda_softmax", 20.0),
  )


def _pfan_config(encoder: dict[str, Any], options: Mapping[str, Any]):
  return "pfan", pfan.PFANConfig(**encoder, **_scoring(options))


def _sgraf_config(encoder: dict[str, Any], options: Mapping[str, Any]):
  return "sgraf", sgraf.SGRAFConfig(
    **encoder,
    head=_choice(options, "module_name", "SGR", ("SGR", "SAF")),
    similarity_size=_integer(options, "sim_dim", 256),
    reasoning_steps=_integer(options, "sgr_step", 3),
  )


_CONFIGS = {
  "scan": _scan_config,
  "bfan": _bfan_config,
  "pfan": _pfan_config,
  "sgraf": _sgraf_config,
}
FAMILIES = tuple(_CONFIGS)
_ALWAYS_BIDIRECTIONAL = ("bfan",)


def _encoder(family, options, vocabulary_size, reads_backwards) -> dict[str, Any]:
  merged = {**_ENCODER_DEFAULTS, **options}
  always = family in _ALWAYS_BIDIRECTIONAL
  bidirectional = always or bool(options.get("bi_gru", reads_backwards))
  if bidirectional != reads_backwards:
    said, held = ("true", "no") if bidirectional else ("false", "a")
    raise errors.UserError(
      f"options say bi_gru is {said} but the weights hold {held} backward GRU "
      "(txt_enc.*_l0_reverse); give the options of this checkpoint"
    )
  return {
    "vocabulary_size": vocabulary_size,
    "feature_size": _integer(merged, "img_dim"),
    "word_size": _integer(merged, "word_dim"),
    "joint_size": _integer(merged, "embed_size"),
    "bidirectional": bidirectional,
    "normalise_regions": not merged["no_imgnorm"],
    "normalise_words": not merged["no_txtnorm"],
    "region_layer": _choice(merged, "precomp_enc_type", "basic", ("basic", "weight_norm")),
  }


def _scoring(options: Mapping[str, Any]) -> dict[str, Any]:
  merged = {**_SCAN_DEFAULTS, **options}
  return {
    "direction": _choice(merged, "cross_attn", None, ("t2i", "i2t")),
    "raw_norm": _choice(merged, "raw_feature_norm", None, _RAW_NORMS),
    "aggregation": _AGGREGATIONS[_choice(merged, "agg_func", None, tuple(_AGGREGATIONS))],
    "lambda_softmax": _number(merged, "lambda_softmax"),
    "lambda_lse": _number(merged, "lambda_lse"),
  }


def _choice(options, name, default, allowed):
  value = options.get(name, default)
  if value not in allowed:
    raise errors.UserError(f"option {name} is {value!r}; expected one of {', '.join(allowed)}")
  return value


def _number(options, name, default=None) -> float:
  value = options.get(name, default)
  if isinstance(value, bool) or not isinstance(value, (int, float)):
    raise errors.UserError(f"option {name} is {value!r}; expected a number")
  return float(value)


def _integer(options, name, default=None) -> int:
  value = _number(options, name, default)
  if value != int(value) or value < 1:
    raise errors.UserError(f"option {name} is {value!r}; expected a positive whole number")
  return int(value)
