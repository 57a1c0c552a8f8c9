"""Step rates with one and two devices and worker processes, and the cost of their exchange.

    python -m benchmarks.scaling

Every case trains in its own processes on random batches of published sizes: SCAN (64 pairs,
36 x 2048 regions, 1024-d space) and Up-Down (10 pictures x 5 captions, 512 units, 9,487 words).
The exchange is timed separately: replicas sum their gradients and, for SCAN, gather encoded
pictures and captions. The fastest step counts, because other programs may use the cores.
Prints a table, then one JSON object.
"""

import json
import os
import socket
import subprocess
import sys
import time

import keras
import numpy as np
import tensorflow as tf
from absl import flags

from gcap_tf import errors
from gcap_tf.captioners import updown
from gcap_tf.matchers import scan
from gcap_tf.training import (
  batch_shares,
  computing,
  loss_options,
  optimizers,
  replicas,
  strategies,
  update_step,
)
from gcap_tf.training.methods import captioning, matching

_CHILD = flags.DEFINE_string("child", "", "Internal: the case of a child process.")
_MODELS = flags.DEFINE_list("models", ["scan", "updown"], "Models to time.")
_STEPS = flags.DEFINE_integer("steps", 7, "Timed steps per case.", 1)

REGIONS, FEATURES, WORDS = 36, 2048, 16
# name -> worker processes, replicas of each, threads of each, deterministic
CASES = {
  "1 device, 1 thread": (1, 1, 1, False),
  "1 device, 2 threads": (1, 1, 2, False),
  "1 device, 2 threads, --deterministic": (1, 1, 2, True),
  "2 logical devices, 2 threads": (1, 2, 2, False),
  "2 workers of 1 thread": (2, 1, 1, False),
}


def random_batch(pictures: int, captions: int, vocabulary: int) -> dict[str, tf.Tensor]:
  """Returns a batch with captions of full length."""
  rng = np.random.default_rng(1)
  features = rng.standard_normal([pictures, REGIONS, FEATURES], np.float32)
  tokens = rng.integers(4, vocabulary, [pictures * captions, WORDS])
  return {
    "features": tf.constant(features),
    "boxes": tf.random.stateless_uniform([pictures, REGIONS, 4], [1, 2]),
    "region_mask": tf.ones([pictures, REGIONS], tf.bool),
    "region_labels": tf.zeros([pictures, REGIONS], tf.int32),
    "global_feature": tf.constant(features.mean(1)),
    "tokens": tf.constant(tokens, tf.int32),
    "token_mask": tf.ones(tokens.shape, tf.bool),
    "noun_mask": tf.ones(tokens.shape, tf.bool),
  }


def make(name: str):
  """Returns a trainer, its batch, and the shapes that replicas gather besides gradients."""
  keras.utils.set_random_seed(1)
  if name == "scan":
    sizes = {"vocabulary_size": 8000, "feature_size": FEATURES, "joint_size": 1024}
    model = scan.SCANMatcher(scan.SCANMatcher.Config(**sizes))
    trainer = matching.MatchingTrainer(model, matching.MatchingLosses())
    return trainer, random_batch(64, 1, 8000), [(64, REGIONS, 1024), (64, WORDS, 1024)]
  sizes = {"vocabulary_size": 9487, "feature_size": FEATURES, "hidden_size": 512}
  model = updown.UpDownCaptioner(updown.UpDownConfig(embedding_size=512, **sizes))
  config = loss_options.CaptioningLosses()
  return captioning.CaptioningTrainer(model, config), random_batch(10, 5, 9487), []


def time_case(name: str, model: str) -> dict[str, float]:
  """Returns the seconds of a step and of its exchange alone, in this process."""
  workers, local, _, deterministic = CASES[name]
  options = computing.ComputeConfig(
    replicas=0 if workers > 1 else local, deterministic=deterministic
  )
  with computing.start(options).scope():
    strategy = tf.distribute.get_strategy()
    trainer, batch, gathered = make(model)
    worker = strategies.worker(strategy)

    def batches(_, part=(0, 1)):
      own = {key: tf.split(tensor, part[1])[part[0]] for key, tensor in batch.items()}
      return tf.data.Dataset.from_tensors(own).repeat()

    variables = [variable.value for variable in trainer.model.trainable_variables]
    update = update_step.UpdateStep(
      trainer, optimizers.Adam(optimizers.OptimizerConfig(), variables)
    )
    stream = batch_shares.iterate(batches, 0, strategy)
    number, count = iter(range(1 << 30)), strategy.num_replicas_in_sync

    def one_step():
      values = update(
        next(stream), tf.constant([1, next(number)]), tf.constant(1e-4), tf.constant(0.0)
      )
      return float(values["loss"])

    def exchange():
      replica = tf.distribute.get_replica_context()
      zeros = [tf.zeros_like(variable) for variable in variables]
      summed = replica.all_reduce(tf.distribute.ReduceOp.SUM, zeros)
      own = [tf.zeros([size[0] // count, *size[1:]]) for size in gathered]
      with tf.GradientTape() as tape:
        tape.watch(own)
        rows = [replicas.gather(part) for part in own]
      returned = tape.gradient(rows, own) if own else []
      return [tf.reduce_sum(value) for value in [*summed, *rows, *returned]]

    compiled = tf.function(lambda: strategy.run(exchange))
    seconds = _fastest(one_step)
    alone = 0.0 if count == 1 else _fastest(compiled)
  return {"step": seconds, "exchange": alone, "worker": worker.index}


def _fastest(call) -> float:
  for _ in range(2):
    call()
  times = []
  for _ in range(_STEPS.value):
    start = time.perf_counter()
    call()
    times.append(time.perf_counter() - start)
  return min(times)


def run_case(name: str, model: str) -> dict[str, float]:
  """Starts the processes of a case; returns the times of worker 0."""
  workers, _, threads, _ = CASES[name]
  sockets = [socket.create_server(("localhost", 0)) for _ in range(workers)]
  hosts = [f"localhost:{each.getsockname()[1]}" for each in sockets]
  for each in sockets:
    each.close()
  children = []
  for index in range(workers):
    environment = os.environ | {
      "TF_NUM_INTRAOP_THREADS": str(threads),
      "TF_NUM_INTEROP_THREADS": str(max(threads, 2)),
    }
    if workers > 1:
      task = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
      environment["TF_CONFIG"] = json.dumps(task)
    arguments = [f"--child={name}", f"--models={model}", f"--steps={_STEPS.value}"]
    children.append(
      subprocess.Popen(
        [sys.executable, "-m", "benchmarks.scaling", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
      )
    )
  answers = [child.communicate() for child in children]
  if children[0].returncode:
    raise errors.UserError(f"{name} failed: {answers[0][1][-800:]}")
  return json.loads(answers[0][0].splitlines()[-1])


def main(_: list[str]) -> None:
  if _CHILD.value:
    print(json.dumps(time_case(_CHILD.value, _MODELS.value[0])))
    return
  results = {}
  print("| model | case | steps/s | exchange alone | share of a step |\n|---|---|---|---|---|")
  for model in _MODELS.value:
    for name in CASES:
      found = run_case(name, model)
      results[f"{model}, {name}"] = found
      share = f"{found['exchange'] / found['step']:.0%}" if found["exchange"] else "-"
      print(
        f"| {model} | {name} | {1 / found['step']:.2f} | {1000 * found['exchange']:.0f} ms "
        f"| {share} |",
        flush=True,
      )
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
