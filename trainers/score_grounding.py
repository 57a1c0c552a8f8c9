r"""Scores grounding files of the official schemas: attention accuracy, F1_all, F1_loc and more.

    python -m trainers.score_grounding --predictions=submission.json --references=references.json
    python -m trainers.score_grounding --predictions=submission.json \
      --references=flickr30k_cleaned_class.json \
      --split_ids=split_ids_flickr30k_entities.json --split=test

Prints tables, and as its last line one JSON object of fractions from 0 to 1, as the official
evaluators print. The `eval_mode` of the submission decides what is scored: "gen" for generated
sentences, "GT" for given ones. Files of ActivityNet-Entities are recognised by their schema.
"""

import json

from absl import flags

from gcap_tf import errors

_PREDICTIONS = flags.DEFINE_string("predictions", None, "Submission JSON.", required=True)
_REFERENCES = flags.DEFINE_string("references", None, "Reference JSON.", required=True)
_SPLIT_IDS = flags.DEFINE_string("split_ids", None, "JSON of split name -> picture ids.")
_SPLIT = flags.DEFINE_string("split", None, "Split of --split_ids; several separated by commas.")
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
  from gcap_tf.metrics import score_files

  report = score_files.score(
    score_files.ScoreConfig(
      predictions=_PREDICTIONS.value,
      references=_REFERENCES.value,
      split_ids=_SPLIT_IDS.value,
      split=_SPLIT.value,
      lemmas=_LEMMAS.value,
      recall_over=_RECALL_OVER.value,
      train_references=_TRAIN_REFERENCES.value,
      classes_shown=_CLASSES_SHOWN.value,
    )
  )
  print(report.text)
  print(json.dumps(report.values))


if __name__ == "__main__":
  errors.run(main)
