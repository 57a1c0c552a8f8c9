r"""Captions pictures of 1 to 3 boxes, and counts those that repeat a noun or are no sentences.

    python -m benchmarks.few_boxes --run=shipped --data=data/f30k --split=val
    python -m benchmarks.few_boxes --run=shipped --data=data/f30k --label_names=coco --decode=beam

Regions are sampled as in training (`data/prepared/region_noise.py`). What a fault is, stands in
`metrics/answers/sentences.py`. Prints the faulty captions; the last line is one JSON object, in
percent.
"""

import json

import numpy as np
from absl import flags

from gcap_tf import errors, printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.metrics.answers import sentences
from gcap_tf.runs import run_folders, run_words
from trainers import decode_flags, region_flags

_RUN = flags.DEFINE_string("run", "shipped", "Run folder of a captioner.")
_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_SPLIT = flags.DEFINE_string("split", "val", "Which split.")
_PICTURES = flags.DEFINE_integer("pictures", 200, "Captions that are judged.", 1)
_SEED = 14

flags.adopt_module_key_flags(decode_flags)
flags.adopt_module_key_flags(region_flags)
flags.set_default(flags.FLAGS["max_regions"], 3)


def choose(count: int, pictures: int) -> np.ndarray:
  """Positions of `pictures` of `count` captions, in order; the same in every run."""
  return np.sort(np.random.default_rng(_SEED).permutation(count)[:pictures])


def main(argv: list[str]) -> None:
  del argv
  run = run_folders.load(_RUN.value, "captioner")
  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)
  answers = captioner_evaluation.caption_split(
    run.model,
    run.vocabulary,
    split,
    decode_flags.configuration(run),
    rules=decode_flags.rules(run),
    change=region_flags.change(run, split),
  )
  classes = run_words.of(run.folder, run.vocabulary)
  nouns, modifiers = frozenset(classes.nouns), frozenset(classes.modifiers)
  chosen = [answers[n] for n in choose(len(answers), _PICTURES.value)]
  given = [answer.words for answer in chosen if answer.answered]
  for words in given:
    if found := sentences.faults(words, nouns, modifiers):
      print(f"{', '.join(found):20} {' '.join(words)}")
  shares = {"answered": len(given) / len(chosen), **sentences.shares(given, nouns, modifiers)}
  print(json.dumps({"pictures": len(chosen), **printing.rounded(printing.percent(shares))}))


if __name__ == "__main__":
  errors.run(main)
