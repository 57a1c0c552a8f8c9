"""Scores grounding files of the official schemas: attention accuracy, F1_all, F1_loc and more.

    python -m trainers.score_grounding --predictions=submission.json --references=references.json
    python -m trainers.score_grounding --predictions=submission.json \
      --references=flickr30k_cleaned_class.json \
      --split_ids=split_ids_flickr30k_entities.json --split=test

Prints tables, and as its last line one JSON object of fractions of 1. What is scored follows
the submission's `eval_mode`: "gen" for generated sentences, "GT" for given ones.
"""

import json

from absl import flags

from gcap_tf import errors, files
from gcap_tf.metrics import grounding_report, lemma_source, results_io

_PREDICTIONS = flags.DEFINE_string("predictions", None, "Submission JSON.", required=True)
_REFERENCES = flags.DEFINE_string("references", None, "Reference JSON.", required=True)
_SPLIT_IDS = flags.DEFINE_string("split_ids", None, "JSON of split name -> picture ids.")
_SPLIT = flags.DEFINE_string("split", None, "Split of --split_ids; several with commas between.")
_LEMMAS = flags.DEFINE_string(
  "lemmas", None, "JSON of word -> lemma (or a file that has it as `wtol`), such as CoreNLP's."
)
_RECALL_OVER = flags.DEFINE_enum(
  "recall_over", "classes", ["classes", "words"], "What per-sentence recall counts."
)
_TRAIN_REFERENCES = flags.DEFINE_string(
  "train_references", None, "Reference JSON whose class counts order the groups by frequency."
)
_CLASSES_SHOWN = flags.DEFINE_integer("classes_shown", 10, "Rows of the table of classes.", 0)


def main(argv: list[str]) -> None:
  del argv
  if (_SPLIT_IDS.value is None) != (_SPLIT.value is None):
    raise errors.UserError("--split_ids and --split go together: give both or neither")
  value = files.read_json(_REFERENCES.value, "references")
  references = results_io.read_references(_REFERENCES.value, value)
  if _SPLIT_IDS.value is not None:
    chosen = results_io.read_split_ids(_SPLIT_IDS.value, _SPLIT.value)
    references = grounding_report.select(references, chosen, f"split {_SPLIT.value}")
  submission = results_io.read_submission(_PREDICTIONS.value)
  mode = grounding_report.eval_mode(submission, references)
  if mode == "GT":
    report = grounding_report.given_sentences(references, submission.results, _CLASSES_SHOWN.value)
    print(report.text)
  else:
    lemmas = lemma_source.choose(_LEMMAS.value, value)
    frequency = None
    if _TRAIN_REFERENCES.value is not None:
      frequency = results_io.class_counts(results_io.read_references(_TRAIN_REFERENCES.value))
    report = grounding_report.generated_sentences(
      references,
      submission.results,
      lemmas.lemma,
      _RECALL_OVER.value,
      frequency,
      _CLASSES_SHOWN.value,
    )
    print(report.text + f"\n\nlemmas: {lemmas.source}")
    report.values["lemmas"] = lemmas.source
  print(json.dumps({"eval_mode": mode, **report.values}))


if __name__ == "__main__":
  errors.run(main)
