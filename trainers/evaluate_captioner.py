r"""Evaluates a captioner: every caption metric, and which regions its words point at.

    python -m trainers.evaluate_captioner --run=runs/updown --data=data/scenes --split=test
    python -m trainers.evaluate_captioner --run=runs/updown --data=data/f30k --split=val \
      --decode=beam --beam_size=3 --save_captions=captions.json --save_grounding=grounding.json

`--drop_regions=0.5`, `--max_regions=3` and `--label_names=coco` score it with fewer or foreign
boxes; the split's own captions are not judged then.

Prints tables, and as its last line one JSON object with every score in percent. For a folder
that was trained with --seeds the scores are means over its seeds, with standard deviations as
KEY_std.
"""

import json

from absl import flags

from gcap_tf import errors, printing
from trainers import decode_flags, region_flags

_RUN = flags.DEFINE_string(
  "run", None, "Run folder of a captioner, or of its seeds.", required=True
)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_SPLIT = flags.DEFINE_string("split", "test", "Which split.")
_METRICS = flags.DEFINE_list(
  "metrics", ["bleu", "meteor", "rouge_l", "cider", "spice"], "Caption metrics."
)
_GIVEN = flags.DEFINE_bool(
  "given_sentences", True, "Also attention accuracy on the split's own captions."
)
_CAPTIONS = flags.DEFINE_string("save_captions", "", "Writes captions here, as COCO results.")
_GROUNDING = flags.DEFINE_string("save_grounding", "", "Writes the grounding submission here.")
_GIVEN_PATH = flags.DEFINE_string(
  "save_given", "", "Writes the boxes of the words of the split's own captions here."
)
_ERRORS = flags.DEFINE_string(
  "draw_errors", "", "Draws photographs of right, partly right and wrong words to this folder."
)
_PICTURES = flags.DEFINE_string("pictures", "", "Folder of the photographs, for --draw_errors.")
_STRIPS = flags.DEFINE_string(
  "draw_videos", "", "Draws grounded segments of drawn videos to this folder."
)
_SELF_RETRIEVAL = flags.DEFINE_integer(
  "self_retrieval",
  0,
  "Number of pictures among which every caption retrieves its own; 0 for none. Scores are kept "
  "in RUN/self_retrieval, so that the same command continues after a stop.",
  0,
)

flags.adopt_module_key_flags(decode_flags)
flags.adopt_module_key_flags(region_flags)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.evaluation import captioner_report
  from gcap_tf.runs import run_folders, seeds

  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)

  def evaluate(folder, seed: int | None = None):
    run = run_folders.load(folder, "captioner")
    change = region_flags.change(run, split)
    config = captioner_report.ReportConfig(
      decode=decode_flags.configuration(run),
      metrics=tuple(_METRICS.value),
      given_sentences=_GIVEN.value and change is None,
      captions_path=_CAPTIONS.value,
      grounding_path=_GROUNDING.value,
      given_path=_GIVEN_PATH.value,
      errors_path=_ERRORS.value,
      pictures=_PICTURES.value,
      strips_path=_STRIPS.value,
      self_retrieval=_SELF_RETRIEVAL.value,
      rules=decode_flags.rules(run),
      change=change,
    )
    if seed is not None:
      config = captioner_report.of_seed(config, seed)
    return captioner_report.evaluate(run, split, config)

  members = seeds.members(_RUN.value)
  if not members:
    report = evaluate(_RUN.value)
    print(report.text)
    print(json.dumps(printing.rounded(report.values)))
    return
  found = {}
  for seed, folder in members.items():
    report = evaluate(folder, seed)
    print(f"seed {seed}\n\n{report.text}\n")
    found[seed] = report.values
  summary = seeds.summary(found)
  print(seeds.table(summary))
  print(json.dumps(printing.rounded(summary)))


if __name__ == "__main__":
  errors.run(main)
