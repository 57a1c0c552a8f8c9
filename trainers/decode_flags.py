"""Flags of the commands that decode captions: how words are chosen."""

from absl import flags

_DECODE = flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How captions are found.")
_BEAM = flags.DEFINE_integer("beam_size", 3, "Beams of --decode=beam.", 1)
_LENGTH = flags.DEFINE_integer(
  "max_length", None, "Most words of a caption; default: as imported, or 20.", 1
)
_UNKNOWN = flags.DEFINE_enum(
  "unknown",
  None,
  ["allow", "suppress", "second_best"],
  "What happens to UNK. Default: beam search suppresses it; greedy decoding allows it, or "
  "takes the second best word for models of the GVD family.",
)


def method() -> str:
  """--decode, for an exported model, which fixes the other options."""
  return _DECODE.value


def configuration(run):
  """The flags as a `DecodeConfig`; what they leave open follows the captioner of `run`."""
  from gcap_tf.decoding import config as decode_config
  from gcap_tf.evaluation import captioner_evaluation

  usual = captioner_evaluation.usual_decoding(run.model).unknown
  return decode_config.DecodeConfig(
    method=_DECODE.value,
    max_length=_LENGTH.value or captioner_evaluation.max_length(run),
    unknown=_UNKNOWN.value or ("suppress" if _DECODE.value == "beam" else usual),
    beam_size=_BEAM.value,
  )
