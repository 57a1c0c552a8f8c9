r"""Fits the confidence of a captioner: how probable it is that the box of a word is right.

    python -m trainers.calibrate --run=runs/updown --data=data/f30k --split=val --curve=risk.png

Writes RUN/calibration.json, which captioning, evaluation and export read: `word_score` and `score`
of an answer are probabilities then (docs/answers.md). Fit it again whenever weights change.
Prints one JSON object as its last line, in percent: `word_ece` and `caption_ece` (expected
calibration error), `word_risk` and `caption_risk` (area under the risk-coverage curve), all
cross-fitted by picture; `..._attention` is the same of the attention without a fit.
"""

import json
import pathlib

from absl import flags

from gcap_tf import errors, printing
from trainers import decode_flags, region_flags

_RUN = flags.DEFINE_string("run", None, "Run folder of a captioner.", required=True)
_DATA = flags.DEFINE_string("data", None, "Prepared folder with annotated boxes.", required=True)
_SPLIT = flags.DEFINE_string("split", "val", "Which split; one that no weight was trained on.")
_OUT = flags.DEFINE_string("out", "", "File to write instead of RUN/calibration.json.")
_CURVE = flags.DEFINE_string("curve", "", "Draws risk over coverage to this PNG file.")
_UNANSWERED = flags.DEFINE_float(
  "unanswered",
  0.01,
  "A captioner of features answers nothing if its score is below that of this share of the split.",
  0.0,
  1.0,
)

flags.adopt_module_key_flags(decode_flags)
flags.adopt_module_key_flags(region_flags)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.evaluation import calibrating
  from gcap_tf.runs import run_answers, run_folders
  from gcap_tf.shipped import folders
  from gcap_tf.visuals import pr_curve

  run = run_folders.load(_RUN.value, "captioner")
  if run.folder in (folders.RUN, folders.PHOTOGRAPHS) and not _OUT.value:
    raise errors.UserError(f"--run={_RUN.value} is in the package; name a file with --out=FILE")
  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)
  config, rules = decode_flags.configuration(run), run_answers.rules(run)
  change = region_flags.change(run, split)
  result = calibrating.calibrate(run, split, config, rules, _UNANSWERED.value, change)
  path = pathlib.Path(_OUT.value) if _OUT.value else run.folder / run_answers.FILE
  figures = printing.rounded(result.figures)
  run_answers.write(path, result.calibration, figures)
  if _CURVE.value:
    pr_curve.save_risk(result.curves, _CURVE.value)
  print(f"written to {path}")
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
