"""Speed of CIDEr-D: our batch scorer against a plain scorer of one caption at a time.

    python -m benchmarks.cider_d --captions=1000 --references=5

The plain scorer works as the released ones: for each caption it counts the n-grams of the
caption and of its references in dictionaries.
"""

import collections
import json
import time
from collections.abc import Callable

import numpy as np
from absl import flags

from benchmarks.peers import cider_d_plain
from gcap_tf import errors
from gcap_tf.rewards import cider_d, document_frequency

_CAPTIONS = flags.DEFINE_integer("captions", 1000, "Captions per batch.", 1)
_REFERENCES = flags.DEFINE_integer("references", 5, "References per picture.", 1)
_PICTURES = flags.DEFINE_integer("pictures", 2000, "Pictures with references.", 1)
_VOCABULARY = flags.DEFINE_integer("vocabulary", 7000, "Words.", 2, 65_000)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Timed batches; the median counts.", 1)


def _rows(rng: np.random.Generator, count: int) -> np.ndarray:
  """Returns captions of 8 to 16 words with a realistic distribution of words."""
  words = np.minimum(rng.zipf(1.3, (count, 17)), _VOCABULARY.value)
  return np.where(np.arange(17) < rng.integers(8, 17, (count, 1)), words, 0)


def _median_seconds(run: Callable[[], object]) -> float:
  times = []
  for _ in range(_REPEATS.value):
    started = time.perf_counter()
    run()
    times.append(time.perf_counter() - started)
  return float(np.median(times))


def main(argv: list[str]) -> None:
  del argv
  rng = np.random.default_rng(0)
  references = {n: _rows(rng, _REFERENCES.value) for n in range(_PICTURES.value)}
  frequency = document_frequency.DocumentFrequency.from_captions(references.values())
  started = time.perf_counter()
  scorer = cider_d.CiderD(references, frequency)
  prepare = time.perf_counter() - started
  captions = _rows(rng, _CAPTIONS.value)
  images = [int(n) for n in rng.integers(0, _PICTURES.value, _CAPTIONS.value)]

  table: dict[tuple[int, ...], float] = collections.Counter()
  for rows in references.values():
    table.update(
      {gram for row in rows.tolist() for grams in cider_d_plain.grams_of(row) for gram in grams}
    )
  listed, listed_references = captions.tolist(), [references[n].tolist() for n in images]

  plain = cider_d_plain.one_at_a_time(listed, listed_references, table, len(references))
  np.testing.assert_allclose(scorer.score(captions, images), plain, atol=1e-6)
  fast = _median_seconds(lambda: scorer.score(captions, images))
  slow = _median_seconds(
    lambda: cider_d_plain.one_at_a_time(listed, listed_references, table, len(references))
  )
  values = {
    "captions_per_second": len(captions) / fast,
    "plain_captions_per_second": len(captions) / slow,
    "ratio": slow / fast,
    "seconds_to_prepare_references": prepare,
  }
  for name, value in values.items():
    print(f"{name.replace('_', ' '):30s} {value:12,.1f}")
  print(json.dumps(values))


if __name__ == "__main__":
  errors.run(main)
