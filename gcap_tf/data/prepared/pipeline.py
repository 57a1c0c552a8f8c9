"""tf.data batches of a prepared split.

Batches are made by random access (batch_plan.py decides their content, batch_maker.py builds
them), so their order is a pure function of (seed, step): `start_step` goes on
exactly where a run stopped, without reading earlier batches.

All batches of a dataset have the same static shape except for T, which is one of the few
lengths of `BatchConfig.buckets`. With one bucket T is static as well. With more, it is
None in `element_spec`: a tf.function that is called with batches traces once per bucket,
one that takes the iterator itself traces once.
"""

import collections
import contextlib
import dataclasses
import re
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import batch as batches
from gcap_tf import errors
from gcap_tf.data.prepared import batch_maker, batch_plan, prepared_data
from gcap_tf.text import vocabulary as vocabularies

BatchConfig = batch_plan.BatchConfig
steps_per_epoch = batch_plan.steps_per_epoch
_KEPT_PLANS = 3


def training_batches(
  split: prepared_data.Split,
  vocabulary: vocabularies.Vocabulary,
  config: BatchConfig,
  start_step: int = 0,
  replica: tuple[int, int] = (0, 1),
  teacher: batch_maker.Teacher | None = None,
) -> tf.data.Dataset:
  """Batches without end, beginning with that of `start_step`.

  Args:
    split: what to read.
    vocabulary: turns words into ids and decides the layout of tokens.
    config: size and order of the batches.
    start_step: steps done before.
    replica: (number, count): of every batch, replica n of m reads the n-th of m equal
      parts, so that the order of a run does not depend on how many share the work.
    teacher: adds its `teacher_attention` and `teacher_words`.
  """
  number, count = replica
  if config.images % count:
    raise errors.UserError(
      f"a batch of {config.images} pictures cannot be shared equally by {count} replicas; "
      f"make it a multiple of {count}"
    )
  maker = batch_maker.BatchMaker(split, vocabulary, config, teacher=teacher)
  plans = _Plans(split, config)
  share = config.images // count
  rows = slice(number * share, (number + 1) * share)

  def batch_of(step: np.int64) -> dict[str, np.ndarray]:
    plan, position = plans.at(int(step))
    return maker.make(
      plan.pictures[position, rows],
      plan.captions[position, rows],
      plan.filled[position, rows],
      int(plan.words[position]),
    )

  specs = batch_specs(maker, config, share)
  return _dataset(tf.data.Dataset.counter(start_step), batch_of, specs, config)


def evaluation_batches(
  split: prepared_data.Split,
  vocabulary: vocabularies.Vocabulary,
  config: BatchConfig,
  parts: Sequence[batches.Part] = ("regions", "captions"),
  teacher: batch_maker.Teacher | None = None,
) -> tf.data.Dataset:
  """Every item once, in order; `example_mask` is False on rows that fill up the last batch.

  Args:
    split: what to read.
    vocabulary: turns words into ids and decides the layout of tokens.
    config: size of the batches; `items` says what is read once.
    parts: ("regions",) reads pictures without captions, each once, for any `items`;
      ("captions",) reads captions without regions, each once.
    teacher: adds its `teacher_attention` and `teacher_words`.
  """
  if len(set(parts)) == 1:
    items = "picture" if "regions" in parts else "caption"
    config = dataclasses.replace(config, items=items, captions_per_image=1)
  maker = batch_maker.BatchMaker(split, vocabulary, config, parts, teacher)
  plan = batch_plan.evaluation_plan(split, config)

  def batch_of(step: np.int64) -> dict[str, np.ndarray]:
    return maker.make(
      plan.pictures[step], plan.captions[step], plan.filled[step], int(plan.words[step])
    )

  specs = batch_specs(maker, config, config.images)
  return _dataset(tf.data.Dataset.range(len(plan.words)), batch_of, specs, config)


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
  """For a loop over batches: raises a `UserError` that tf.data has wrapped."""
  try:
    yield
  except tf.errors.OpError as error:
    found = re.search(r"UserError: (.+)", error.message)
    if found:
      raise errors.UserError(found.group(1)) from None
    raise


def batch_specs(
  maker: batch_maker.BatchMaker, config: BatchConfig, images: int
) -> dict[str, tf.TensorSpec]:
  """Shapes and types of a batch of `images` pictures."""
  sizes = {**maker.sizes, "I": images, "B": images * config.captions_per_image}
  if len(maker.bounds) == 1:
    sizes["T"] = maker.slots(int(maker.bounds[-1]))
  return {name: batches.spec(name, sizes) for name in maker.names}


def _dataset(steps: tf.data.Dataset, batch_of, specs, config: BatchConfig) -> tf.data.Dataset:
  names = list(specs)

  def arrays_of(step: np.int64) -> list[np.ndarray]:
    batch = batch_of(step)
    return [batch[name] for name in names]

  def tensors_of(step: tf.Tensor) -> dict[str, tf.Tensor]:
    tensors = tf.numpy_function(arrays_of, [step], [specs[name].dtype for name in names])
    return {
      name: tf.ensure_shape(tensor, specs[name].shape)
      for name, tensor in zip(names, tensors, strict=True)
    }

  dataset = steps.map(tensors_of, num_parallel_calls=config.readers, deterministic=True)
  options = tf.data.Options()
  # `replica` divides the batches already; sharding the steps as well would lose batches.
  options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
  return dataset.prefetch(config.prefetch).with_options(options)


class _Plans:
  """Plans of the epochs around the current step; each is made once."""

  def __init__(self, split: prepared_data.Split, config: BatchConfig):
    self._split = split
    self._config = config
    self._steps = batch_plan.steps_per_epoch(split, config)
    self._kept: collections.OrderedDict[int, batch_plan.Plan] = collections.OrderedDict()
    self._lock = threading.Lock()

  def at(self, step: int) -> tuple[batch_plan.Plan, int]:
    """The plan that holds `step`, and the position of that step in it."""
    epoch, position = divmod(step, self._steps)
    with self._lock:
      if epoch not in self._kept:
        self._kept[epoch] = batch_plan.training_plan(self._split, self._config, epoch)
        if len(self._kept) > _KEPT_PLANS:
          self._kept.popitem(last=False)
      return self._kept[epoch], position
