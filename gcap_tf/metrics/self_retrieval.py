"""Self-retrieval: does a caption find its picture? (Dai & Lin, NeurIPS 2017, arXiv:1710.02534).

The model captions N pictures; each caption c ranks all N pictures by ln p(c | I); recall at k
is the share of captions whose own picture is among the first k, in percent. Another picture
that ties counts as before the own one.

All pairs of N captions and N pictures have to be scored. Captions share beginnings ("a man in
a ..."), and the next word of a captioner depends only on the picture and the beginning. So captions
form a tree of beginnings, and a picture walks through the tree once, all nodes of a level in
one step. Equal captions cost nothing more.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.metrics import retrieval
from gcap_tf.metrics.bootstrap import resampling

CUTOFFS = (1, 5, 50, 500)


@dataclasses.dataclass(frozen=True)
class Level:
  """Beginnings of t words, and the words that follow.

  Attributes:
    parent: [n] each beginning without its last word, as position in the level before.
    token: [n] that last word; 0 at level 0.
    caption: [m] captions with a word, or their end, at this level.
    node: [m] their beginning.
    word: [m] that word.
  """

  parent: np.ndarray
  token: np.ndarray
  caption: np.ndarray
  node: np.ndarray
  word: np.ndarray


@dataclasses.dataclass(frozen=True)
class CaptionTree:
  """Captions as a tree of beginnings.

  Attributes:
    levels: by number of words.
    captions: how many captions there are, C.
  """

  levels: tuple[Level, ...]
  captions: int

  @classmethod
  def build(cls, tokens: np.ndarray) -> "CaptionTree":
    """From padded rows `w1 .. wn 0 0 ..` [C, T]; a row without 0 was cut, and has no end."""
    tokens = np.asarray(tokens)
    count, slots = tokens.shape
    lengths = np.where((tokens == 0).any(1), (tokens == 0).argmax(1), slots)
    node = np.zeros(count, np.int64)  # The beginning of each caption in the level before.
    levels = []
    for t in range(min(int(lengths.max(initial=0)) + 1, slots)):
      caption = np.flatnonzero(lengths >= t)
      last = tokens[caption, t - 1] if t else np.zeros(len(caption), tokens.dtype)
      pairs, inverse = np.unique(np.stack([node[caption], last]), axis=1, return_inverse=True)
      inverse = inverse.reshape(-1)
      levels.append(Level(pairs[0], pairs[1], caption, inverse, tokens[caption, t]))
      node[caption] = inverse
    return cls(tuple(levels), count)

  @property
  def width(self) -> int:
    """Nodes of the widest level."""
    return max(len(level.token) for level in self.levels)

  @property
  def nodes(self) -> int:
    return sum(len(level.token) for level in self.levels)


class PairScorer:
  """ln p(c | I) of every picture and caption.

  Args:
    captioner: any; it runs without dropout.
  """

  def __init__(self, captioner: base.Captioner):
    self._captioner = captioner
    self._encode = tf.function(captioner.encode, autograph=False, reduce_retracing=True)
    self._start = tf.function(captioner.initial_state, autograph=False, reduce_retracing=True)
    self._advance = tf.function(self._one_level, autograph=False, reduce_retracing=True)

  def scores(self, batch: base.Batch, tree: CaptionTree) -> np.ndarray:
    """[I, C] of the pictures of a batch and the captions of a tree."""
    picture = {key: batch[key] for key in base.PICTURE_KEYS if key in batch}
    memory = self._encode(picture)
    state = self._start(memory)
    total = np.zeros([len(batch["region_mask"]), tree.captions])
    for level in tree.levels:
      state, found = self._advance(
        memory, state, *(tf.constant(getattr(level, name), tf.int32)
                         for name in ("parent", "token", "node", "word"))
      )  # fmt: skip
      total[:, level.caption] += found.numpy()
    return total.astype(np.float32)

  def _one_level(self, memory, state, parent, token, node, word):
    """The states of a level's nodes, and ln p [I, m] of the words of its captions."""
    pictures, count = tf.shape(memory["region_mask"])[0], tf.shape(token)[0]

    def inherit(x):
      of_picture = tf.reshape(x, tf.concat([[pictures, -1], tf.shape(x)[1:]], 0))
      chosen = tf.reshape(tf.gather(of_picture, parent, axis=1), [-1, *x.shape[1:]])
      return tf.ensure_shape(chosen, [None, *x.shape[1:]])

    state = tf.nest.map_structure(inherit, state)
    emitted = self._captioner.step(memory, state, tf.tile(token, [pictures]))
    logits = emitted["logits"]  # [I * n, V]
    rows = (tf.range(pictures)[:, tf.newaxis] * count + node)[..., tf.newaxis]  # [I, m, 1]
    words = tf.broadcast_to(word[:, tf.newaxis], tf.shape(rows))
    chosen = tf.gather_nd(logits, tf.concat([rows, words], -1))
    log_sum = tf.gather(tf.reduce_logsumexp(logits, -1), rows[..., 0])
    return emitted["state"], chosen - log_sum


def recalls(scores: np.ndarray) -> dict[str, float]:
  """Recall in percent, `self_retrieval_1` and so on.

  Args:
    scores: [N, N] ln p of picture i and the caption that was made for picture j.
  """
  ranks, _ = retrieval.text_to_image_ranks(scores, np.arange(len(scores)))
  return {f"self_retrieval_{k}": 100.0 * float(np.mean(ranks < k)) for k in CUTOFFS}


def statistics(scores: np.ndarray) -> dict[str, resampling.Statistic]:
  """What each caption adds to the recalls; scores as for `recalls`."""
  ranks, _ = retrieval.text_to_image_ranks(scores, np.arange(len(scores)))
  return {f"self_retrieval_{k}": resampling.mean(100.0 * (ranks < k)) for k in CUTOFFS}
