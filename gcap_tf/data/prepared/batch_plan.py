"""Decides which captions go into which batch: a pure function of (seed, step).

An epoch is planned as a whole, in NumPy, before anything is read. So a run can go on at
any step exactly, and every epoch uses every item once:

1. The items are permuted. An item is a caption (with its picture), or a picture with
   some of its captions.
2. Items are put into buckets by their longest caption, so that batches waste little
   padding. Items that do not fill the last batch of a bucket move to the next larger one.
3. Only the last batch of the largest bucket is filled up, with the first items again.
4. The batches are shuffled.

So an epoch always has ceil(items / batch size) steps.
"""

import dataclasses
from typing import Literal

import numpy as np

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data


@dataclasses.dataclass(frozen=True)
class BatchConfig:
  """Content and order of batches.

  Attributes:
    images: pictures in a batch (of all replicas together), I.
    captions_per_image: captions of each picture; B = I * captions_per_image.
    items: "picture" reads every picture once per epoch, with captions_per_image of its
      captions; "caption" reads every caption once, with its picture (captions_per_image is 1).
    max_words: longer captions are cut; 0 keeps the longest caption of the split whole.
    buckets: word counts below max_words that batches may be padded to; () pads all to
      max_words.
    max_regions: R; further regions are dropped. 0 takes the largest number in the data.
    shuffle: False keeps the order of the data (within each bucket).
    seed: of the order and of the choice of captions.
    cache_bytes: memory for decoded pictures; the rest is read again each time.
    readers: batches that are put together at the same time.
    prefetch: finished batches that wait.
    position_blocks: adds `position_blocks` [I, R, 30] for PFAN.
    noun_tags: universal parts of speech that `noun_mask` marks.
    teacher_tags: universal parts of speech that `teacher_words` marks.
  """

  images: configs.PositiveInt = 32
  captions_per_image: configs.PositiveInt = 1
  items: Literal["picture", "caption"] = "picture"
  max_words: configs.Count = 20
  buckets: tuple[configs.PositiveInt, ...] = ()
  max_regions: configs.Count = 0
  shuffle: bool = True
  seed: configs.Count = 0
  cache_bytes: configs.Count = 2 << 30
  readers: configs.PositiveInt = 2
  prefetch: configs.PositiveInt = 4
  position_blocks: bool = False
  noun_tags: tuple[str, ...] = ("NOUN", "PROPN")
  teacher_tags: tuple[str, ...] = ("NOUN", "PROPN")

  def __post_init__(self):
    if self.items == "caption" and self.captions_per_image != 1:
      raise errors.UserError(
        f"captions_per_image is {self.captions_per_image} with items=caption; "
        "set it to 1, or choose items=picture"
      )
    if list(self.buckets) != sorted(set(self.buckets)):
      raise errors.UserError(f"buckets are {list(self.buckets)}; list them in ascending order")


@dataclasses.dataclass(frozen=True)
class Plan:
  """The batches of an epoch.

  Attributes:
    pictures: [steps, I] positions in the split.
    captions: [steps, I, captions per picture] positions among the captions of the split.
    filled: [steps, I] False on rows that only fill up the last batch.
    words: [steps] how many words the batch has room for.
  """

  pictures: np.ndarray
  captions: np.ndarray
  filled: np.ndarray
  words: np.ndarray


def item_count(split: prepared_data.Split, config: BatchConfig) -> int:
  return len(split) if config.items == "picture" else len(split.words)


def steps_per_epoch(split: prepared_data.Split, config: BatchConfig) -> int:
  """Batches that pass over every item once."""
  return -(-item_count(split, config) // config.images)


def bounds(split: prepared_data.Split, config: BatchConfig) -> np.ndarray:
  """Word counts that batches are padded to, ascending; the last holds any caption."""
  longest = config.max_words or split.max_words
  return np.array([*(bound for bound in config.buckets if bound < longest), longest])


def training_plan(split: prepared_data.Split, config: BatchConfig, epoch: int) -> Plan:
  """The batches of epoch 0, 1, 2, ...; every item in one of them."""
  rng = np.random.default_rng([config.seed, epoch])
  count = item_count(split, config)
  order = rng.permutation(count) if config.shuffle else np.arange(count)
  pictures, captions = _chosen(split, config, rng)
  limits = bounds(split, config)
  longest = np.minimum(split.words[captions].max(axis=1), limits[-1])
  bucket_of = np.searchsorted(limits, longest)

  batches: list[np.ndarray] = []
  words: list[int] = []
  waiting = order[:0]
  for bucket, limit in enumerate(limits):
    waiting = np.concatenate([waiting, order[bucket_of[order] == bucket]])
    full = len(waiting) // config.images * config.images
    batches.extend(waiting[:full].reshape(-1, config.images))
    words.extend([limit] * (full // config.images))
    waiting = waiting[full:]
  if len(waiting):
    batches.append(np.concatenate([waiting, np.resize(order, config.images - len(waiting))]))
    words.append(limits[-1])

  shuffled = rng.permutation(len(batches)) if config.shuffle else np.arange(len(batches))
  rows = np.stack(batches)[shuffled]  # [S, I]
  return Plan(pictures[rows], captions[rows], np.ones(rows.shape, bool), np.array(words)[shuffled])


def evaluation_plan(split: prepared_data.Split, config: BatchConfig) -> Plan:
  """Every item once, in order; the last batch is filled up with the first item."""
  few = np.flatnonzero(split.captions < config.captions_per_image)
  if config.items == "picture" and len(few):
    raise errors.UserError(
      f"picture {split.image_ids[few[0]]} of split {split.name} has {split.captions[few[0]]} "
      f"captions, {config.captions_per_image} are needed; evaluate with items=caption"
    )
  count = item_count(split, config)
  pictures, captions = _chosen(split, dataclasses.replace(config, shuffle=False), None)
  steps = steps_per_epoch(split, config)
  rows = np.zeros(steps * config.images, np.int64)
  rows[:count] = np.arange(count)
  filled = (np.arange(len(rows)) < count).reshape(steps, -1)
  rows = rows.reshape(steps, -1)  # [S, I]
  limits = bounds(split, config)
  longest = np.minimum(split.words[captions[rows]].max(axis=(1, 2)), limits[-1])
  return Plan(pictures[rows], captions[rows], filled, limits[np.searchsorted(limits, longest)])


def _chosen(
  split: prepared_data.Split, config: BatchConfig, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
  """Picture [items] and captions [items, captions per picture] of every item.

  Consecutive captions from a random start if a picture has enough of them, as
  self-critical training code does; drawn with replacement if it has fewer.
  """
  if config.items == "caption":
    return split.caption_pictures, np.arange(len(split.words))[:, None]
  wanted = config.captions_per_image
  available = split.captions.astype(np.int64)[:, None]  # [N, 1]
  if config.shuffle:
    draws = rng.random([len(split), wanted])
    start = (draws[:, :1] * (available - wanted + 1)).astype(np.int64)
    drawn = (draws * available).astype(np.int64)
  else:
    start = np.zeros_like(available)
    drawn = np.arange(wanted) % np.maximum(available, 1)
  offsets = np.where(available >= wanted, start + np.arange(wanted), drawn)
  return np.arange(len(split)), split.caption_starts[:, None] + offsets
