"""Flags of the commands that decode captions: how words are chosen."""

import dataclasses

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
  "What happens to UNK. Default: it never comes out; with --as_published, beam search suppresses "
  "it, and greedy decoding does what the captioner's released program does.",
)
_NGRAM = flags.DEFINE_integer(
  "no_repeat_ngram", 3, "No n words in a row occur twice in a caption; 0 allows it.", 0
)
_WORDS = flags.DEFINE_enum(
  "repeat_words",
  "never",
  ["never", "apart", "allow"],
  "Whether a caption may say a noun or verb again: never; only after a word that tells the two "
  'apart ("another man", "a blue shirt"); or always.',
)
_END = flags.DEFINE_float(
  "end_below",
  0.1,
  "Greedy decoding ends a caption in place of a repeat if the best other word has a lower "
  "probability; 0 takes that word.",
  0.0,
  1.0,
)
_PUBLISHED = flags.DEFINE_bool(
  "as_published",
  False,
  "Decodes as the released programs do, without the rules against repeats, UNK and bad endings; "
  "for comparisons with them.",
)


def method() -> str:
  """--decode, for an exported model, which fixes the other options."""
  return _DECODE.value


def configuration(run):
  """The flags as a `DecodeConfig`; what they leave open follows the captioner of `run`."""
  from gcap_tf.decoding import config as decode_config
  from gcap_tf.decoding import user_rules
  from gcap_tf.evaluation import captioner_evaluation
  from gcap_tf.runs import run_words

  usual = captioner_evaluation.usual_decoding(run.model).unknown
  plain = decode_config.DecodeConfig(
    method=_DECODE.value,
    max_length=_LENGTH.value or captioner_evaluation.max_length(run),
    unknown=_UNKNOWN.value or ("suppress" if _DECODE.value == "beam" else usual),
    beam_size=_BEAM.value,
  )
  if _PUBLISHED.value:
    return plain
  rules = user_rules.UserRules(_NGRAM.value, _WORDS.value, _END.value)
  ruled = rules.apply(plain, run.vocabulary, run_words.of(run.folder, run.vocabulary))
  return dataclasses.replace(ruled, unknown=_UNKNOWN.value) if _UNKNOWN.value else ruled


def rules(run):
  """The answer rules of `run`; None with --as_published."""
  from gcap_tf.runs import run_answers

  return None if _PUBLISHED.value else run_answers.rules(run)
