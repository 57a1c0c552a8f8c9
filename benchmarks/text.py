"""Speed of tokenising, tagging and lemmatising captions.

    python -m benchmarks.text
    python -m benchmarks.text --entities=DIR --captions=20000 --tagger=shipped --tagger=FOLDER

Without --entities it repeats a few made-up captions. Speeds are words per second of processor
time, the best of three passes.
"""

import re
import time
from collections.abc import Callable

from absl import flags

from gcap_tf import errors
from gcap_tf.text import graph_tokenizer, lemmas, tagging, tokenizer
from trainers.tagger import weak_tags

ENTITIES = flags.DEFINE_string(
  "entities", "", "Flickr30k Entities folder; empty for made-up captions."
)
CAPTIONS = flags.DEFINE_integer("captions", 20_000, "Captions to measure on.", lower_bound=1)
TAGGERS = flags.DEFINE_multi_string("tagger", ["shipped"], "Pipelines to measure; repeatable.")

MADE_UP = (
  "A man in a blue shirt is riding a horse through a shallow river.",
  "Two young girls, one in a red dress, don't look at the camera.",
  "The dog's owner throws a frisbee while children play near a fountain.",
)


def read_captions() -> list[str]:
  if not ENTITIES.value:
    return [MADE_UP[index % len(MADE_UP)] for index in range(CAPTIONS.value)]
  found: list[str] = []
  for _, lines in weak_tags.read_entities(ENTITIES.value):
    found += (re.sub(r"\[/EN#\d+\S* ([^\]]*)\]", r"\1", line) for line in lines)
    if len(found) >= CAPTIONS.value:
      break
  return found[: CAPTIONS.value]


def words_per_second(words: int, run: Callable[[], object]) -> float:
  seconds = []
  for _ in range(3):
    start = time.process_time()
    run()
    seconds.append(time.process_time() - start)
  return words / min(seconds)


def main(_: list[str]) -> None:
  captions = read_captions()
  split = [tokenizer.tokenize(caption) for caption in captions]
  words = sum(map(len, split))
  print(f"{len(captions):,} captions, {words:,} words\n\n| what | words/s |\n|---|---|")
  in_graph = graph_tokenizer.GraphTokenizer("caption")
  cases: dict[str, Callable[[], object]] = {
    "tokenizer, caption": lambda: [tokenizer.tokenize(text) for text in captions],
    "tokenizer, treebank": lambda: [tokenizer.tokenize(text, "treebank") for text in captions],
    "tokenizer, caption, in a graph": lambda: in_graph.tokenize(captions),
    "lemmas": lambda: [[lemmas.lemma(word) for word in row] for row in split],
  }
  for name in TAGGERS.value:
    tagger = tagging.load_tagger(name)
    cases[f"tagger {name}"] = lambda tagger=tagger: tagger.tag(split)
  for name, run in cases.items():
    print(f"| {name} | {words_per_second(words, run):,.0f} |", flush=True)


if __name__ == "__main__":
  errors.run(main)
