"""Speed of sequence-level learning: the self-critical step, its reward, self-retrieval.

    python -m benchmarks.scst
    python -m benchmarks.scst --steps=9 --query_pictures=4

The step samples 5 captions for each of 10 pictures. If torch is installed, it takes turns with
the released PyTorch steps (peers/scst_torch.py): "torch" is POS-SCAN's program, which decodes
greedily for every sample; "torch_one_greedy" stands for later programs, which do so once per
picture. All programs write captions of exactly 16 words, since the model is not trained.

Self-retrieval is timed on captions that share few beginnings, the worst case, and compared
with the matrix-product rate of the machine.
"""

import importlib.util
import json
import time

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import captioners, timing
from benchmarks.peers import cider_d_plain
from gcap_tf import errors
from gcap_tf.metrics import self_retrieval
from gcap_tf.rewards import cider_d as rewards_cider_d
from gcap_tf.rewards import document_frequency, weighted
from gcap_tf.training import optimizers
from gcap_tf.training.methods import self_critical

_SIZE = flags.DEFINE_integer("units", 512, "E, H and A.", 1)
_WORDS = flags.DEFINE_integer("words", 9488, "V, including the end of a sentence.", 3)
_REPEATS = flags.DEFINE_integer("steps", 5, "Timed runs of each program.", 1)
_CAPTIONS = flags.DEFINE_integer("query_captions", 1000, "Captions of self-retrieval.", 1)
_PICTURES = flags.DEFINE_integer("query_pictures", 2, "Pictures of self-retrieval.", 1)
_ROWS = flags.DEFINE_integer("rows", 1024, "Sequences that self-retrieval scores together.", 1)

PICTURES, SAMPLES, REFERENCES, WORDS = 10, 5, 5, 16
NEVER = -1e4


def make_model(end_bias: float):
  model = captioners.make_model(_WORDS.value, _SIZE.value)
  bias = model.word_output.bias
  bias.assign(tf.tensor_scatter_nd_update(bias.value, [[0]], [end_bias]))
  return model


def references_of(rng: np.random.Generator, images: int) -> dict[str, np.ndarray]:
  """Returns references of 8 to 16 words with a realistic distribution of words."""
  words = np.minimum(rng.zipf(1.3, (images * REFERENCES, 16)), _WORDS.value - 1)
  rows = np.where(np.arange(16) < rng.integers(8, 17, (len(words), 1)), words, 0)
  return {f"p{n}": rows[n * REFERENCES : (n + 1) * REFERENCES] for n in range(images)}


def step_figures() -> dict[str, float]:
  """Returns the samples per second of a step, and the share of the reward in its time."""
  rng = np.random.default_rng(0)
  references = references_of(rng, 2000)
  frequency = document_frequency.DocumentFrequency.from_captions(references.values())
  scorer = rewards_cider_d.CiderD(references, frequency)
  model = make_model(NEVER)
  trainer = self_critical.ScstTrainer(
    model,
    self_critical.SampledCaptions(samples=SAMPLES, max_length=WORDS),
    weighted.WeightedSum({"cider": 1.0}, {"cider": scorer}),
  )
  batch = captioners.make_batch(PICTURES, 1, _WORDS.value)
  images = [f"p{n}" for n in range(PICTURES)]
  batch |= {"image_id": tf.constant(images)}
  variables = [variable.value for variable in model.trainable_variables]
  optimizer = optimizers.Adam(optimizers.OptimizerConfig(clip="value", clip_at=0.1), variables)

  @tf.function
  def step():
    with tf.GradientTape() as tape:
      loss = trainer.losses(batch, tf.constant([1, 2]))["policy"]
    optimizer.apply(tape.gradient(loss, variables), tf.constant(0.0))
    return loss

  runs = {"ours": lambda: step().numpy()}
  if importlib.util.find_spec("torch"):
    from benchmarks.peers import scst_torch

    sizes = (_WORDS.value, captioners.FEATURES, *([_SIZE.value] * 3))
    program = scst_torch.Program(*sizes, NEVER)
    arrays = [batch[key].numpy() for key in ("global_feature", "features")]
    slow = SlowReward(references, images)
    runs["torch"] = lambda: program.scst(*arrays, slow, SAMPLES, WORDS, SAMPLES)
    runs["torch_one_greedy"] = lambda: program.scst(*arrays, slow, SAMPLES, WORDS)
  seconds = timing.median_seconds(runs, _REPEATS.value)
  reward = reward_seconds(trainer, rng, images)
  count = PICTURES * SAMPLES
  values = {f"{name}_samples_per_second": count / value for name, value in seconds.items()}
  values |= {f"ratio_to_{n}": seconds[n] / seconds["ours"] for n in seconds if n != "ours"}
  return values | {"reward_share": reward / seconds["ours"]}


class SlowReward:
  """Computes advantages with the plain CIDEr-D of peers/cider_d_plain.py."""

  def __init__(self, references: dict[str, np.ndarray], images: list[str]):
    self._rows = [references[image].tolist() for image in images]
    self._table: dict[tuple[int, ...], float] = {}
    for rows in references.values():
      for gram in {
        g for row in rows.tolist() for grams in cider_d_plain.grams_of(row) for g in grams
      }:
        self._table[gram] = self._table.get(gram, 0.0) + 1
    self._images = len(references)

  def __call__(self, drawn: np.ndarray, best: np.ndarray) -> np.ndarray:
    copies = len(best) // len(self._rows)
    rows = [rows for count in (SAMPLES, copies) for rows in self._rows for _ in range(count)]
    captions = [*drawn.tolist(), *best.tolist()]
    scores = np.array(cider_d_plain.one_at_a_time(captions, rows, self._table, self._images))
    return scores[: len(drawn)] - np.repeat(scores[len(drawn) :], SAMPLES // copies)


def reward_seconds(
  trainer: self_critical.ScstTrainer, rng: np.random.Generator, images: list[str]
) -> float:
  """Returns the time of the call out of the graph, for 50 sampled and 10 greedy captions."""
  count = PICTURES * (SAMPLES + 1)
  captions = rng.integers(1, _WORDS.value, (count, WORDS))
  names = np.array([image.encode() for image in images] * (SAMPLES + 1), object)
  given = np.zeros(count, np.float32)
  run = {"reward": lambda: trainer.score_outside(captions, names, given)}
  return timing.median_seconds(run, 5 * _REPEATS.value)["reward"]


def self_retrieval_figures() -> dict[str, float]:
  """Returns pairs per second, the time for 5,000 x 5,000, and the share of the GEMM rate."""
  rng = np.random.default_rng(1)
  tokens = rng.integers(1, _WORDS.value, (_CAPTIONS.value, 16))
  lengths = np.clip(np.round(rng.normal(10.5, 1.5, _CAPTIONS.value)), 6, 15).astype(int)
  tokens = np.where(np.arange(16) < lengths[:, None], tokens, 0)
  model = make_model(0.0)
  scorer = self_retrieval.PairScorer(model)
  groups = np.array_split(tokens, -(-len(tokens) // _ROWS.value))
  trees = [self_retrieval.CaptionTree.build(group) for group in groups]
  batch = captioners.make_batch(_PICTURES.value, 1, _WORDS.value)
  together = max(1, _ROWS.value // max(tree.width for tree in trees))

  def run():
    for first in range(0, _PICTURES.value, together):
      part = {key: value[first : first + together] for key, value in batch.items()}
      for tree in trees:
        scorer.scores(part, tree)

  run()
  started = time.perf_counter()
  run()
  seconds = time.perf_counter() - started
  pairs = _PICTURES.value * len(tokens)
  nodes = sum(tree.nodes for tree in trees)
  work = captioners.flops(model, _PICTURES.value, _PICTURES.value, nodes, train=False)
  rate = pairs / seconds
  return {
    "pairs_per_second": rate,
    "minutes_for_1000_x_1000": 1e6 / rate / 60,
    "hours_for_5000_x_5000": 25e6 / rate / 3600,
    "gemm_share": work / timing.matrix_product_rate() / seconds,
  }


def main(argv: list[str]) -> None:
  del argv
  results = {"step": step_figures(), "self_retrieval": self_retrieval_figures()}
  for case, values in results.items():
    print(f"{case:15s} " + "  ".join(f"{name} {value:,.3f}" for name, value in values.items()))
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
