"""Does a server say what the model says? Every answer compared, for random pictures.

    python -m benchmarks.serving_parity --requests=10000

Requests of random sizes, with junk in their padding, are sent from many threads at once, so
that they share batches with others. Captions and boxes must be those of the Python
model that sees the picture alone and unpadded; log-probabilities within 1e-4.
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
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from serving import client, embedded, versions

FEATURES = 16
METHODS = ("greedy", "beam")


def compare(requests: int, workers: int = 16, seed: int = 0) -> dict:
  """Counts the answers that differ."""
  model, vocabulary = serving_model.make(hidden=16, features=FEATURES, words=30, spread=1.2)
  module = captioner_module.CaptionerModule(model, vocabulary, [True] * vocabulary.size)
  with tempfile.TemporaryDirectory() as folder:
    base = serving_model.write(pathlib.Path(folder), module)
    served = versions.ModelConfig("captioner", base)
    with embedded.Server(embedded.ServerConfig(models=(served,))) as server:
      caller = client.Client(server.address)

      def ask(number: int) -> dict[str, np.ndarray]:
        signature, _, padded = picture(seed + number)
        return caller.predict(padded, signature)

      with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(ask, range(requests)))
      caller.close()
      rows = server.metrics.batch_rows
      batches = sum(rows.count("captioner", signature) for signature in METHODS)
  decode = {
    method: decoder.compiled(model, decode_config.DecodeConfig(method=method)) for method in METHODS
  }
  different, captions, worst = [], set(), 0.0
  for number, answer in enumerate(answers):
    method, plain, _ = picture(seed + number)
    tensors = {name: tf.constant(array) for name, array in plain.items()}
    wanted = {k: v.numpy() for k, v in decode[method](module.reader.batch(tensors)).items()}
    caption = " ".join(vocabulary.decode(wanted["tokens"][0]))
    captions.add(caption)
    gap = float(np.abs(answer["log_prob"] - wanted["log_prob"]).max())
    worst = max(worst, gap)
    looks = (
      wanted["box_index"] if plain["num_regions"][0] else np.full_like(wanted["box_index"], -1)
    )
    same = answer["caption"][0].decode() == caption and (answer["box_index"] == looks).all()
    if gap > 1e-4 or not same:
      different.append(number)
  return {
    "requests": requests,
    "batches": batches,
    "distinct_captions": len(captions),
    "different": different,
    "worst_log_prob_gap": worst,
  }


def picture(seed: int) -> tuple[str, dict[str, np.ndarray], dict[str, np.ndarray]]:
  """Signature, a picture of 0 to 12 regions, and the same with junk as padding."""
  rng = np.random.default_rng(seed)
  count, padding = int(rng.integers(0, 13)), int(rng.integers(0, 6))
  low = rng.uniform(0, 0.5, (1, count, 2))
  plain = {
    "features": rng.normal(size=(1, count, FEATURES)).astype(np.float32),
    "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
    "num_regions": np.array([count], np.int32),
  }
  padded = dict(plain)
  for name in ("features", "boxes"):
    junk = rng.normal(0, 1e3, (1, padding, plain[name].shape[2])).astype(np.float32)
    padded[name] = np.concatenate([plain[name], junk], 1)
  return METHODS[seed % 2], plain, padded


def main(argv: list[str]) -> int:
  del argv
  figures = compare(flags.FLAGS.requests)
  print(json.dumps(figures))
  return 1 if figures["different"] else 0


if __name__ == "__main__":
  flags.DEFINE_integer("requests", 1000, "Pictures to compare.", 1)
  errors.run(main)
