"""Trains the small spaCy tagger that ships with the package.

The network is spaCy's hash embedding with a convolution over neighbouring words, its
labels the universal parts of speech. If a word may have one of several tags A (a noun,
proper or not), the loss is

    L = - log sum_{a in A} p(a),    dL/dlogit_i = p_i - [i in A] p_i / sum_{a in A} p_a

This is cross entropy if A holds one tag, and 0 if it holds all.
"""

import collections
import dataclasses
import functools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gcap_tf import config as configs
from gcap_tf import files, optional
from gcap_tf.text import tagging
from trainers.tagger import tagged

if TYPE_CHECKING:
  from spacy import language

Example = tuple[Sequence, np.ndarray]  # a spaCy Doc, and the tags its words may have
# What the network reads of a word, with the rows of each hash table.
ROWS = {"NORM": 5000, "PREFIX": 500, "SUFFIX": 2500, "SHAPE": 1500}
MAXOUT_PIECES = 3
LEARN_RATES = (0.008, 0.0001)  # the first and the last; the rate falls linearly
CAPTIONS_PER_EPOCH = 15_000  # weakly tagged captions that an epoch adds
# A word that the treebank has at most RARE_COUNT times is scrambled in this share of cases.
RARE_COUNT, RARE_SCRAMBLED = 2, 0.3
_CONSONANTS = "bcdfghjklmnpqrstvwxz"


@dataclasses.dataclass(frozen=True)
class TaggerConfig:
  """Size of the network and length of its training.

  Attributes:
    width: of every layer.
    depth: layers of convolution.
    epochs: passes over the treebank.
    batch_words: words in a batch, about.
    dropout: share of units that a step leaves out.
    seed: of weights, order and scrambling.
  """

  width: configs.PositiveInt = 64
  depth: configs.PositiveInt = 3
  epochs: configs.PositiveInt = 5
  batch_words: configs.PositiveInt = 500
  dropout: configs.Fraction = 0.12
  seed: int = 0


def blank_pipeline(config: TaggerConfig, labels: Sequence[str]) -> "language.Language":
  """An untrained English pipeline whose one component, "tagger", gives `labels`."""
  _thinc().fix_random_seed(config.seed)
  pipeline = optional.require("spacy", "train").blank("en")
  component = pipeline.add_pipe(
    "tagger",
    config={
      "model": {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {
          "@architectures": "spacy.Tok2Vec.v2",
          "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": config.width,
            "attrs": list(ROWS),
            "rows": list(ROWS.values()),
            "include_static_vectors": False,
          },
          "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": config.width,
            "depth": config.depth,
            "window_size": 1,
            "maxout_pieces": MAXOUT_PIECES,
          },
        },
      }
    },
  )
  for label in labels:
    component.add_label(label)
  sample = _doc(pipeline, ["a", "dog"])
  component.model.initialize(X=[sample], Y=[np.eye(2, len(labels), dtype=np.float32)])
  tagging.multiply_by_numpy(component.model)
  return pipeline


def allowed_tags(sentence: tagged.Sentence, labels: tuple[str, ...]) -> np.ndarray:
  """1.0 if a word may have a tag, [T, tags]."""
  return np.asarray([_allowed(tag, labels) for tag in sentence.tags], np.float32)


@functools.cache
def _allowed(tag: str, labels: tuple[str, ...]) -> tuple[bool, ...]:
  return tuple(not tag or label in tag.split("|") for label in labels)


def loss_gradient(probabilities: np.ndarray, allowed: np.ndarray) -> tuple[float, np.ndarray]:
  """The loss above, summed over words, and its gradient by the logits, [T, tags]."""
  kept = probabilities * allowed
  mass = kept.sum(axis=1, keepdims=True)
  return -float(np.log(mass).sum()), probabilities - kept / mass


def scrambled(word: str, rng: random.Random) -> str:
  """The word with other letters inside: same prefix, suffix and shape, but never seen.

  A hash embedding gives an unknown word the vectors of others. Meeting such words in
  training teaches the network to trust spelling and neighbours instead.
  """
  middle = "".join(rng.choice(_CONSONANTS) if letter.islower() else letter for letter in word[1:-3])
  return word[:1] + middle + word[-3:] if len(word) > 4 else word


def batches(
  examples: Sequence[Example], batch_words: int, rng: random.Random
) -> Iterator[list[Example]]:
  """Shuffled batches of about `batch_words` words."""
  order = list(examples)
  rng.shuffle(order)
  batch: list[Example] = []
  words = 0
  for example in order:
    batch.append(example)
    words += len(example[0])
    if words >= batch_words:
      yield batch
      batch, words = [], 0
  if batch:
    yield batch


def train(
  config: TaggerConfig,
  full: Sequence[tagged.Sentence],
  weak: Sequence[tagged.Sentence] = (),
  after_epoch: Callable[[int, "language.Language"], None] = lambda epoch, pipeline: None,
) -> "language.Language":
  """Trains on all of `full` and a fresh sample of `weak` each epoch.

  The learning rate falls linearly; the pipeline returned has the weights' averages, and
  none of the training words in its vocabulary.
  """
  labels = tuple(sorted({tag for sentence in full for tag in sentence.tags}))
  pipeline = blank_pipeline(config, labels)
  model = pipeline.get_pipe("tagger").model
  rng = random.Random(config.seed)

  counts = collections.Counter(word for sentence in full for word in sentence.words)

  def example(sentence: tagged.Sentence) -> Example:
    words = [
      scrambled(word, rng)
      if 0 < counts[word] <= RARE_COUNT and rng.random() < RARE_SCRAMBLED
      else word
      for word in sentence.words
    ]
    return _doc(pipeline, words), allowed_tags(sentence, labels)

  sample = min(CAPTIONS_PER_EPOCH, len(weak))
  optimizer = _thinc().Adam(LEARN_RATES[0], use_averages=True, L2=0.01, grad_clip=1.0)
  _thinc().set_dropout_rate(model, config.dropout)
  for epoch in range(config.epochs):
    chosen = [example(sentence) for sentence in (*full, *rng.sample(weak, sample))]
    parts = list(batches(chosen, config.batch_words, rng))
    for step, batch in enumerate(parts):
      done = (epoch + step / len(parts)) / config.epochs
      optimizer.learn_rate = (1 - done) * LEARN_RATES[0] + done * LEARN_RATES[1]
      probabilities, backpropagate = model.begin_update([doc for doc, _ in batch])
      backpropagate(
        [loss_gradient(p, allowed)[1] for p, (_, allowed) in zip(probabilities, batch, strict=True)]
      )
      model.finish_update(optimizer)
      optimizer.step_schedules()
    with model.use_params(optimizer.averages):
      after_epoch(epoch, pipeline)
  with model.use_params(optimizer.averages):
    weights = pipeline.get_pipe("tagger").model.to_bytes()
  clean = blank_pipeline(config, labels)
  clean.get_pipe("tagger").model.from_bytes(weights)
  return clean


def save(pipeline: "language.Language", folder: files.PathLike) -> None:
  """Writes the pipeline; other files in the folder stay."""
  pipeline.meta["name"] = "english_tagger"
  pipeline.meta["description"] = "Universal parts of speech for English captions"
  pipeline.meta["license"] = "CC BY-SA 4.0"
  pipeline.meta["spacy_version"] = ">=3.8,<4.0"
  pipeline.to_disk(folder)


def _thinc():
  return optional.require("thinc.api", "train")


def _doc(pipeline: "language.Language", words: Sequence[str]):
  return optional.require("spacy.tokens", "train").Doc(pipeline.vocab, words=words)
