"""Speed and memory of the matchers, compared with scoring one caption at a time.

    python -m benchmarks.matchers                      all cases, JSON to standard output
    python -m benchmarks.matchers --quick              small sizes, one minute
    python -m benchmarks.matchers --cases=scan_train,memory --out=matchers.json

The library takes turns with a plain TensorFlow version (peers/matchers_plain.py), which is
1.4 to 2.7 times slower than the released PyTorch programs; medians count. Sizes are the
published ones: 36 x 2048 regions, a joint space of 1024, captions of 20 tokens.
`gemm_fraction` is a share of the matrix-product rate of the same run.
"""

import json
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import matcher_flops, timing
from benchmarks.peers import matchers_plain
from gcap_tf import errors, files
from gcap_tf.matchers import bfan, blocks, scan, sgraf
from gcap_tf.training import optimizers
from gcap_tf.training.methods import matching

_CASES = flags.DEFINE_list("cases", [], "Cases to run; all by default.")
_QUICK = flags.DEFINE_bool("quick", False, "Small sizes.")
_REPETITIONS = flags.DEFINE_integer("repetitions", 5, "Timed runs of each program.", 1)
_OUT = flags.DEFINE_string("out", None, "File for the JSON object.")
_MEMORY_CHILD = flags.DEFINE_bool(
  "memory_child", False, "Internal: the memory case calls itself with it."
)

VOCABULARY = 8481
MODELS = {
  "scan": (scan.SCANMatcher, {}),
  "bfan": (bfan.BFANMatcher, {"focus": "prob"}),
  "sgr": (sgraf.SGRAFMatcher, {"head": "SGR"}),
  "saf": (sgraf.SGRAFMatcher, {"head": "SAF"}),
}


class Sizes:
  """Published sizes, or small ones."""

  def __init__(self, quick: bool):
    self.features, self.joint, self.word = (256, 128, 64) if quick else (2048, 1024, 300)
    self.regions, self.words = 36, 20
    self.batch = (
      {"scan": 16, "bfan": 16, "sgr": 8, "saf": 8}
      if quick
      else {"scan": 128, "bfan": 128, "sgr": 64, "saf": 64}
    )
    self.eval_images, self.eval_captions = (16, 40) if quick else (128, 640)
    self.memory_images, self.memory_captions = (100, 500) if quick else (1000, 5000)


def make_matcher(name: str, sizes: Sizes):
  cls, options = MODELS[name]
  return cls(
    cls.Config(
      vocabulary_size=VOCABULARY,
      feature_size=sizes.features,
      word_size=sizes.word,
      joint_size=sizes.joint,
      **options,
    )
  )


def make_batch(sizes: Sizes, images: int, captions: int) -> dict[str, tf.Tensor]:
  random = np.random.default_rng(0)
  tokens = random.integers(4, VOCABULARY, (captions, sizes.words))
  tokens[:, 0], tokens[:, -1] = 1, 2
  features = random.random((images, sizes.regions, sizes.features), np.float32)
  return {
    "features": tf.constant(features),
    "region_mask": tf.ones([images, sizes.regions], tf.bool),
    "tokens": tf.constant(tokens, tf.int32),
    "token_mask": tf.ones(tokens.shape, tf.bool),
    "noun_mask": tf.ones(tokens.shape, tf.bool),
  }


def training_case(name: str, sizes: Sizes) -> tuple[Callable, Callable, float, int]:
  """Returns our step, the plain step, the FLOPs of ours, and the pairs of a step."""
  size = sizes.batch[name]
  matcher, batch = make_matcher(name, sizes), make_batch(sizes, size, size)
  trainer = matching.MatchingTrainer(matcher, matching.MatchingLosses())
  variables = [variable.value for variable in matcher.trainable_variables]
  adam = optimizers.Adam(optimizers.OptimizerConfig(), variables)
  seed = tf.constant([1, 2])

  def update(tape, loss):
    adam.apply(tape.gradient(loss, variables), tf.constant(0.0))

  @tf.function
  def ours():
    with tf.GradientTape() as tape:
      loss = trainer.losses(batch, seed)["ranking"]
    update(tape, loss)

  apply = tf.function(lambda gradients: adam.apply(gradients, tf.constant(0.0)))

  def plain():
    with tf.GradientTape() as tape:
      loss = matchers_plain.training_loss(matcher, batch, seed)
    gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
    apply([tf.convert_to_tensor(gradient) for gradient in gradients])

  return ours, plain, matcher_flops.training(matcher.config, name, size, sizes), size


def evaluation_case(name: str, sizes: Sizes) -> tuple[Callable, Callable, float, int]:
  """Returns our scoring of all pairs, the plain one, the FLOPs of ours, and the pairs."""
  matcher = make_matcher(name, sizes)
  batch = make_batch(sizes, sizes.eval_images, sizes.eval_captions)
  images, captions = matcher.encode_images(batch), matcher.encode_captions(batch)
  arrays = [{key: value.numpy() for key, value in part.items()} for part in (images, captions)]
  pairs = sizes.eval_images * sizes.eval_captions
  flops = matcher_flops.scoring(matcher.config, name, pairs, sizes)
  scorer = blocks.Scorer(matcher)
  return (
    lambda: scorer.similarity_matrix(*arrays),
    lambda: matchers_plain.similarity(matcher, images, captions).numpy(),
    flops,
    pairs,
  )


def memory_child(sizes: Sizes) -> None:
  """Scores a whole test split and prints the peak memory before and after, in bytes."""
  matcher = make_matcher("scan", sizes)
  store = blocks.CaptionStore()
  encode = tf.function(matcher.encode_captions)
  for _ in range(sizes.memory_captions // 100):
    captions = encode(make_batch(sizes, 1, 100))
    store.add({name: tensor.numpy() for name, tensor in captions.items()})
  random = np.random.default_rng(0)
  regions = random.random((sizes.memory_images, sizes.regions, sizes.joint), np.float32)
  images = {"regions": regions, "region_mask": np.ones(regions.shape[:2], bool)}
  before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
  start = time.perf_counter()
  scores = blocks.similarity_matrix(matcher, images, store)
  seconds = time.perf_counter() - start
  after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
  print(json.dumps({"pairs": scores.size, "seconds": seconds, "before": before, "peak": after}))


def memory_case(quick: bool) -> dict[str, float]:
  command = [sys.executable, "-m", "benchmarks.matchers", "--memory_child", f"--quick={quick}"]
  done = subprocess.run(command, capture_output=True, text=True, check=False)
  if done.returncode:
    raise errors.UserError(f"the memory case failed: {done.stderr.strip().splitlines()[-1]}")
  figures = json.loads(done.stdout.splitlines()[-1])
  return {
    "pairs_per_second": figures["pairs"] / figures["seconds"],
    "peak_gib": figures["peak"] / 2**30,
    "scoring_gib": (figures["peak"] - figures["before"]) / 2**30,
  }


CASES = [f"{model}_{kind}" for kind in ("train", "eval") for model in MODELS] + ["memory"]


def run_case(name: str, sizes: Sizes, rate: float) -> dict[str, float]:
  if name == "memory":
    return memory_case(_QUICK.value)
  model, _, kind = name.partition("_")
  make = training_case if kind == "train" else evaluation_case
  ours, plain, flops, pairs = make(model, sizes)
  seconds = timing.median_seconds({"ours": ours, "plain": plain}, _REPETITIONS.value)
  return {
    "pairs_per_second": pairs / seconds["ours"],
    "plain_pairs_per_second": pairs / seconds["plain"],
    "ratio": seconds["plain"] / seconds["ours"],
    "gflop": flops / 1e9,
    "gemm_fraction": flops / seconds["ours"] / rate,
  }


def main(argv: list[str]) -> None:
  del argv
  sizes = Sizes(_QUICK.value)
  if _MEMORY_CHILD.value:
    memory_child(sizes)
    return
  unknown = [name for name in _CASES.value if name not in CASES]
  if unknown:
    raise errors.UserError(f'unknown case "{unknown[0]}"; known: {", ".join(CASES)}')
  rate = timing.matrix_product_rate(512 if _QUICK.value else 2048)
  results: dict[str, dict[str, float]] = {"gemm": {"gflop_per_second": rate / 1e9}}
  for name in _CASES.value or CASES:
    results[name] = run_case(name, sizes, rate)
    row = "  ".join(f"{key} {value:,.3g}" for key, value in results[name].items())
    print(f"{name:12} {row}", file=sys.stderr, flush=True)
  if _OUT.value:
    files.write_json(pathlib.Path(_OUT.value), results)
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
