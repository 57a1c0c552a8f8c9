"""Compares the answers of a server with those of the model, for random pictures.

    python -m benchmarks.serving_parity                       # every captioner, 1,000 pictures
    python -m benchmarks.serving_parity --models=updown --requests=100000

Many threads send requests of random sizes with junk in their padding, so that they share
batches. Words, indices and boxes must equal those of the Python model on the single, unpadded
picture; log-probabilities may differ by a share of 1e-4.

With random weights, a recurrent network can double its rounding errors at every word. A
difference also counts as a tie if the Python model alone differs as much when its inputs
change by a millionth: then there is no unique right answer.
"""

import concurrent.futures
import functools
import json
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks.load import drawn_model
from export import captioner_module
from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.decoding import answers, decoder
from serving import client, embedded, versions

FEATURES = 16
METHODS = ("greedy", "beam")
LABELLED = "updown_labels"  # Up-Down on the labels of regions alone

SPREAD = 0.6  # of the random weights; larger ones make every caption chaotic
LOG_PROB_SHARE = 1e-4
JITTER = 1e-6  # relative change of inputs; float32 resolves 1.2e-7
JITTERS = 16

Arrays = dict[str, np.ndarray]


def models() -> list[str]:
  """Returns every captioner, and one that reads labels instead of features."""
  return [*catalog.CAPTIONERS.names(), LABELLED]


def compare(
  requests: int, name: str = "updown", workers: int = 16, seed: int = 0, spread: float = SPREAD
) -> dict:
  """Lists the answers that differ.

  Args:
    requests: number of pictures.
    name: one of `models()`.
    workers: requests at once.
    seed: seed of the pictures.
    spread: standard deviation of the random weights.
  """
  labelled = name == LABELLED
  model, vocabulary = drawn_model.make(
    hidden=16,
    features=0 if labelled else FEATURES,
    words=30,
    spread=spread,
    name="updown" if labelled else name,
    labelled=labelled,
  )
  module = captioner_module.CaptionerModule(model, vocabulary, [True] * vocabulary.size)
  with tempfile.TemporaryDirectory() as folder:
    base = drawn_model.write(pathlib.Path(folder), module)
    served = versions.ModelConfig("captioner", base)
    with embedded.Server(embedded.ServerConfig(models=(served,))) as server:
      caller = client.Client(server.address)

      def ask(number: int) -> Arrays:
        signature, _, padded = picture(seed + number, labelled)
        return caller.predict(padded, signature)

      with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        replies = list(pool.map(ask, range(requests)))
      caller.close()
      rows = server.metrics.batch_rows
      batches = sum(rows.count("captioner", signature) for signature in METHODS)
  decodings = captioner_module.decodings(model)
  decode = {method: decoder.compiled(model, decodings[method]) for method in METHODS}
  found = {"different": [], "log_prob_off": [], "ties": []}
  captions, worst = set(), 0.0
  for number, answer in enumerate(replies):
    method, plain, _ = picture(seed + number, labelled)
    alone = functools.partial(python_answer, module, decode[method], vocabulary)
    wanted = alone(plain)
    captions.add(tuple(wanted["words"]))
    gap = log_prob_gap(answer, wanted)
    worst = max(worst, gap)
    kind = "" if gap <= LOG_PROB_SHARE else "log_prob_off"
    kind = kind if same(answer, wanted) else "different"
    if kind:
      found[kind].append(number)
    if kind and is_tie(alone, plain, wanted, kind):
      found["ties"].append(number)
  return {
    "model": name,
    "requests": requests,
    "batches": batches,
    "distinct_captions": len(captions),
    **found,
    "worst_log_prob_gap": float(f"{worst:.2g}"),
  }


def python_answer(module, decode, vocabulary, plain: Arrays) -> Arrays:
  """Decodes one picture with the Python model, in the form of a served answer."""
  batch = module.reader.batch({key: tf.constant(array) for key, array in plain.items()})
  decoded = answers.finish(decode(batch), batch, module.rules, len(vocabulary.words))
  decoded = {key: value.numpy() for key, value in decoded.items()}
  has_regions = bool(plain["num_regions"][0])
  words = vocabulary.decode(decoded["tokens"][0])
  return {
    "caption": np.array([" ".join(words).encode()], object),
    "words": np.array([word.encode() for word in words], object),
    "box_index": decoded["box_index"] if has_regions else np.full_like(decoded["box_index"], -1),
    "box": decoded["box"] if has_regions else np.zeros_like(decoded["box"]),
    "log_prob": decoded["log_prob"],
  }


def same(answer: Arrays, wanted: Arrays) -> bool:
  """Whether an answer has the wanted words, indices and boxes."""
  return (
    [word for word in answer["words"].ravel() if word] == list(wanted["words"])
    and answer["caption"][0] == wanted["caption"][0]
    and np.array_equal(answer["box_index"], wanted["box_index"])
    and np.array_equal(answer["box"], wanted["box"])
  )


def log_prob_gap(answer: Arrays, wanted: Arrays) -> float:
  """Returns |log p - log p'|, divided by |log p'| if that is above 1."""
  size = max(1.0, abs(float(wanted["log_prob"][0])))
  return abs(float(answer["log_prob"][0]) - float(wanted["log_prob"][0])) / size


def is_tie(alone: Callable[[Arrays], Arrays], plain: Arrays, wanted: Arrays, kind: str) -> bool:
  """Whether the model alone changes its answer when its inputs change by a millionth."""
  rng = np.random.default_rng(0)
  for _ in range(JITTERS):
    moved = dict(plain)
    for name in {"features"} & plain.keys():
      moved[name] = plain[name] * (1 + JITTER * rng.choice([-1, 1], plain[name].shape))
      moved[name] = moved[name].astype(np.float32)
    found = alone(moved)
    if not same(found, wanted) or (
      kind == "log_prob_off" and log_prob_gap(found, wanted) > LOG_PROB_SHARE
    ):
      return True
  return False


def picture(seed: int, labelled: bool = False) -> tuple[str, Arrays, Arrays]:
  """Returns a signature, a picture of 0 to 12 regions, and the same with junk as padding."""
  rng = np.random.default_rng(seed)
  count, padding = int(rng.integers(0, 13)), int(rng.integers(0, 6))
  low = rng.uniform(0, 0.5, (1, count, 2))
  plain = {
    "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
    "num_regions": np.array([count], np.int32),
  }
  if labelled:
    names = [label.encode() for label in (*drawn_model.LABELS, "zebra")]
    plain["labels"] = rng.choice(names, (1, count)).astype(object)
  else:
    plain["features"] = rng.normal(size=(1, count, FEATURES)).astype(np.float32)
  padded = dict(plain)
  for name, array in plain.items():
    if name == "labels":
      junk = np.full((1, padding), b"junk", object)
    elif array.ndim > 1:
      junk = rng.normal(0, 1e3, (1, padding, array.shape[2])).astype(np.float32)
    else:
      continue
    padded[name] = np.concatenate([array, junk], 1)
  return METHODS[seed % 2], plain, padded


def held(figure: dict) -> bool:
  """Whether all differences are ties."""
  return set(figure["different"]) | set(figure["log_prob_off"]) == set(figure["ties"])


def main(argv: list[str]) -> int:
  del argv
  chosen = models() if flags.FLAGS.models == ["all"] else flags.FLAGS.models
  for name in chosen:
    if name not in models():
      raise errors.UserError(f'--models: unknown "{name}"; known: {", ".join(models())}')
  figures = []
  for name in chosen:
    figures.append(compare(flags.FLAGS.requests, name))
    print(json.dumps(figures[-1]), flush=True)
  return 0 if all(held(figure) for figure in figures) else 1


if __name__ == "__main__":
  flags.DEFINE_list("models", ["all"], "Captioners to compare.")
  flags.DEFINE_integer("requests", 1000, "Pictures to compare.", 1)
  errors.run(main)
