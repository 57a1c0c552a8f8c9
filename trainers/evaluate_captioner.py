r"""Evaluates a captioner: every caption metric, and where its words point.

    python -m trainers.evaluate_captioner --run=runs/updown --data=data/scenes --split=test
    python -m trainers.evaluate_captioner --run=runs/updown --data=data/f30k --split=val \
      --decode=beam --beam_size=3 --save_captions=captions.json --save_grounding=grounding.json

Prints tables, and as its last line one JSON object: caption scores on the scale of papers
(CIDEr 76.3), grounding as fractions of 1. For a folder that was trained with --seeds they are
means over its seeds, with standard deviations as KEY_std.
"""

import json

from absl import flags

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, captioner_report
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.runs import run_folders, seeds

_RUN = flags.DEFINE_string(
  "run", None, "Run folder of a captioner, or of its seeds.", required=True
)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_SPLIT = flags.DEFINE_string("split", "test", "Which split.")
_DECODE = flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How captions are found.")
_BEAM = flags.DEFINE_integer("beam_size", 3, "Beams of --decode=beam.", 1)
_LENGTH = flags.DEFINE_integer(
  "max_length", None, "Words of a caption at most; default: as imported, or 20.", 1
)
_UNKNOWN = flags.DEFINE_enum(
  "unknown",
  None,
  ["allow", "suppress", "second_best"],
  "What becomes of UNK; default: suppressed in beam search; in greedy decoding allowed, "
  "but for GVD and its kin, which take the second best word.",
)
_METRICS = flags.DEFINE_list("metrics", list(caption_metrics.METRICS), "Caption metrics.")
_GIVEN = flags.DEFINE_bool(
  "given_sentences", True, "Also attention accuracy on the split's own captions."
)
_CAPTIONS = flags.DEFINE_string("save_captions", "", "Writes captions here, as COCO results.")
_GROUNDING = flags.DEFINE_string("save_grounding", "", "Writes the grounding submission here.")
_SELF_RETRIEVAL = flags.DEFINE_integer(
  "self_retrieval",
  0,
  "Pictures among which every caption looks for its own; scores are kept in RUN/self_retrieval, "
  "so the same command goes on after a stop. 0 for none.",
  0,
)


def configuration(run: run_folders.Run) -> captioner_report.ReportConfig:
  """The flags, and for what they leave open the captioner's own ways."""
  usual = captioner_evaluation.usual_decoding(run.model).unknown
  unknown = _UNKNOWN.value or ("suppress" if _DECODE.value == "beam" else usual)
  return captioner_report.ReportConfig(
    decode=decode_config.DecodeConfig(
      _DECODE.value,
      _LENGTH.value or captioner_evaluation.max_length(run),
      unknown=unknown,
      beam_size=_BEAM.value,
    ),
    metrics=tuple(_METRICS.value),
    given_sentences=_GIVEN.value,
    captions_path=_CAPTIONS.value,
    grounding_path=_GROUNDING.value,
    self_retrieval=_SELF_RETRIEVAL.value,
  )


def main(argv: list[str]) -> None:
  del argv
  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)
  members = seeds.members(_RUN.value)
  if not members:
    run = run_folders.load(_RUN.value, "captioner")
    report = captioner_report.evaluate(run, split, configuration(run))
    print(report.text)
    print(json.dumps(report.values))
    return
  found = {}
  for seed, folder in members.items():
    run = run_folders.load(folder, "captioner")
    own = captioner_report.of_seed(configuration(run), seed)
    report = captioner_report.evaluate(run, split, own)
    print(f"seed {seed}\n\n{report.text}\n")
    found[seed] = report.values
  summary = seeds.summary(found)
  print(seeds.table(summary))
  print(json.dumps(summary))


if __name__ == "__main__":
  errors.run(main)
