"""Does a server say what the model says? Every answer compared, for random pictures.

    python -m benchmarks.serving_parity                       # every captioner, 1,000 pictures
    python -m benchmarks.serving_parity --models=updown --requests=100000

Requests of random sizes, with junk in their padding, are sent from many threads at once, so
that they share batches with others. Words and boxes must be those of the Python
model that sees the picture alone and unpadded; log-probabilities within a share of 1e-4.
"""

import concurrent.futures
import json
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import serving_model
from export import captioner_module
from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.decoding import decoder
from serving import client, embedded, versions

FEATURES = 16
METHODS = ("greedy", "beam")
LABELLED = "updown_labels"  # Up-Down on the labels of regions alone

# Of the drawn weights. Wider ones make a recurrent net chaotic: the rounding of another batch
# size grows until it changes a word.
SPREAD = 0.6

Arrays = dict[str, np.ndarray]


def models() -> list[str]:
  """Every captioner, and one that reads labels instead of features."""
  return [*catalog.CAPTIONERS.names(), LABELLED]


def compare(
  requests: int, name: str = "updown", workers: int = 16, seed: int = 0, spread: float = SPREAD
) -> dict:
  """Counts the answers that differ.

  Args:
    requests: pictures.
    name: of `models`.
    workers: requests under way at once.
    seed: of the pictures.
    spread: scale of the drawn weights.
  """
  labelled = name == LABELLED
  model, vocabulary = serving_model.make(
    hidden=16,
    features=0 if labelled else FEATURES,
    words=30,
    spread=spread,
    name="updown" if labelled else name,
    labelled=labelled,
  )
  module = captioner_module.CaptionerModule(model, vocabulary, [True] * vocabulary.size)
  with tempfile.TemporaryDirectory() as folder:
    base = serving_model.write(pathlib.Path(folder), module)
    served = versions.ModelConfig("captioner", base)
    with embedded.Server(embedded.ServerConfig(models=(served,))) as server:
      caller = client.Client(server.address)

      def ask(number: int) -> Arrays:
        signature, _, padded = picture(seed + number, labelled)
        return caller.predict(padded, signature)

      with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(ask, range(requests)))
      caller.close()
      rows = server.metrics.batch_rows
      batches = sum(rows.count("captioner", signature) for signature in METHODS)
  decodings = captioner_module.decodings(model)
  decode = {method: decoder.compiled(model, decodings[method]) for method in METHODS}
  different, captions, worst = [], set(), 0.0
  for number, answer in enumerate(answers):
    method, plain, _ = picture(seed + number, labelled)
    tensors = {key: tf.constant(array) for key, array in plain.items()}
    wanted = {k: v.numpy() for k, v in decode[method](module.reader.batch(tensors)).items()}
    captions.add(" ".join(vocabulary.decode(wanted["tokens"][0])))
    wanted_log_prob = float(wanted["log_prob"][0])
    gap = abs(float(answer["log_prob"][0]) - wanted_log_prob) / max(1.0, abs(wanted_log_prob))
    worst = max(worst, gap)
    if gap > 1e-4 or not same(answer, wanted, vocabulary, bool(plain["num_regions"][0])):
      different.append(number)
  return {
    "model": name,
    "requests": requests,
    "batches": batches,
    "distinct_captions": len(captions),
    "different": different,
    "worst_log_prob_gap": float(f"{worst:.2g}"),
  }


def same(answer: Arrays, wanted: Arrays, vocabulary, sees: bool) -> bool:
  """Whether a served answer has the words and the boxes of the model's own decoding."""
  words = vocabulary.decode(wanted["tokens"][0])
  spoken = [word.decode() for word in answer["words"][0] if word]
  looks = wanted["box_index"] if sees else np.full_like(wanted["box_index"], -1)
  boxes = wanted["box"] if sees else np.zeros_like(wanted["box"])
  return (
    spoken == words
    and answer["caption"][0].decode() == " ".join(words)
    and np.array_equal(answer["box_index"], looks)
    and np.array_equal(answer["box"], boxes)
  )


def picture(seed: int, labelled: bool = False) -> tuple[str, Arrays, Arrays]:
  """Signature, a picture of 0 to 12 regions, and the same with junk as padding."""
  rng = np.random.default_rng(seed)
  count, padding = int(rng.integers(0, 13)), int(rng.integers(0, 6))
  low = rng.uniform(0, 0.5, (1, count, 2))
  plain = {
    "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
    "num_regions": np.array([count], np.int32),
  }
  if labelled:
    names = [label.encode() for label in (*serving_model.LABELS, "zebra")]
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
  return 1 if any(figure["different"] for figure in figures) else 0


if __name__ == "__main__":
  flags.DEFINE_list("models", ["all"], "Captioners to compare.")
  flags.DEFINE_integer("requests", 1000, "Pictures to compare.", 1)
  errors.run(main)
