"""Two real worker processes: they learn what one learns, and one survives the other."""
# bazel: size = "medium"  # Two processes of their own, with a network between them.

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import keras
import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.runs import checkpoints
from gcap_tf.training import contract, loop, optimizers, replicas, schedules, strategies

STEPS, SAVED, KILLED = 8, 4, 6


class Mortal(contract.Trainer):
  """Tells every row from the rows of all workers; worker 1 dies before a step."""

  best_metric = "none"

  def __init__(self):
    keras.utils.set_random_seed(5)
    self.model = keras.Sequential([keras.layers.Dense(6, "tanh"), keras.layers.Dense(4)])
    self.model(tf.zeros([1, 3]))

  def losses(self, batch, seed):
    rows = self.model(batch["x"])
    everyone = replicas.gather(rows)
    own = replicas.offset(rows) + tf.range(tf.shape(rows)[0])
    scores = tf.matmul(rows, everyone, transpose_b=True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(own, scores)
    counted = batch["x"][:, 0] > 0
    mean = tf.reduce_mean(tf.boolean_mask(losses, counted))
    return {"telling": replicas.share(mean, counted)}

  def begin_epoch(self, epoch):
    if epoch == KILLED and strategies.worker_of_environment().index == 1:
      os.kill(os.getpid(), signal.SIGKILL)


def batches(start: int, worker: tuple[int, int] = (0, 1)) -> tf.data.Dataset:
  """Eight rows, others at every step; a worker takes its part of them."""
  number, count = worker
  rows = slice(number * 8 // count, (number + 1) * 8 // count)

  def one(step: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"x": tf.random.stateless_normal([8, 3], tf.stack([step, 7]))[rows]}

  return tf.data.Dataset.range(start, 1 << 40).map(one)


def train(folder: pathlib.Path) -> list[np.ndarray]:
  """Trains in the current strategy; returns the weights."""
  taught = Mortal()
  config = loop.LoopConfig(
    steps=STEPS,
    log_every=1,
    checkpoint_every=SAVED,
    schedule=schedules.ScheduleConfig("cosine", 0.05),
    optimizer=optimizers.OptimizerConfig(epsilon=1e-2),
  )
  loop.train(taught, batches, config, folder)
  return taught.model.get_weights()


def work(folder: str) -> None:
  """What each of the two processes does."""
  try:
    with strategies.make().scope():
      train(pathlib.Path(folder))
  except errors.UserError as error:
    print(f"error: {error}", flush=True)
    os._exit(1)  # TensorFlow waits for the lost worker when Python ends.


def start_workers(folder: pathlib.Path) -> list[subprocess.Popen]:
  sockets = [socket.create_server(("localhost", 0)) for _ in range(2)]
  hosts = [f"localhost:{s.getsockname()[1]}" for s in sockets]
  for open_socket in sockets:
    open_socket.close()
  program = f"from tests.training import test_two_workers as t; t.work({str(folder)!r})"
  return [
    subprocess.Popen(
      [sys.executable, "-c", program],
      stdout=subprocess.PIPE,
      text=True,
      env=os.environ
      | {
        "TF_CONFIG": json.dumps(
          {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
        )
      },
    )
    for index in range(2)
  ]


def test_a_lost_worker_ends_the_job_and_one_alone_finishes_it(tmp_path):
  alone, shared = tmp_path / "alone", tmp_path / "shared"
  alone.mkdir()
  shared.mkdir()
  workers = start_workers(shared)
  expected = train(alone)
  output, _ = workers[0].communicate(timeout=200)
  workers[1].wait(timeout=10)
  assert workers[1].returncode == -signal.SIGKILL
  assert "another worker of this job was lost; the run stands at step 6" in output
  assert workers[0].returncode == 1
  assert checkpoints.StepCheckpoints(shared / "checkpoints").steps() == [SAVED, KILLED]

  def losses(folder):
    lines = (json.loads(line) for line in (folder / "metrics.jsonl").open())
    return [line["loss"] for line in lines if "loss" in line]

  np.testing.assert_allclose(losses(shared)[:KILLED], losses(alone)[:KILLED], rtol=1e-5)
  for weight, wanted in zip(train(shared), expected, strict=True):
    np.testing.assert_allclose(weight, wanted, atol=1e-5)
  np.testing.assert_allclose(losses(shared), losses(alone), rtol=1e-5)
