"""The work of a data preparation, cut into shards that any process can make.

The content of a shard depends only on its place in the split, and so do the groups in
which captions are tagged, so any number of processes writes the same bytes.
"""

import concurrent.futures
import dataclasses
import functools
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import process
from typing import Protocol

from gcap_tf import errors, progress, worker_processes
from gcap_tf.data import records, validation
from gcap_tf.data.prepared import prepared_writer
from gcap_tf.data.readers import reader
from gcap_tf.text import tagging

GROUP = 64  # pictures whose captions are tagged together
_POLL_SECONDS = 0.5


class RegionSource(Protocol):
  """Source of the regions of a picture; can be pickled."""

  def add(self, record: records.Record) -> records.Record:
    """The record with its regions."""


@dataclasses.dataclass(frozen=True)
class ShardTask:
  """A shard to make of the given pictures: `number` of `count`."""

  folder: str
  split: str
  number: int
  count: int
  image_ids: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Job:
  """Turns picture ids into finished records; can be pickled for other processes."""

  reader: reader.Reader
  regions: RegionSource

  def make_shard(
    self, task: ShardTask, on_picture: Callable[[], None] = lambda: None
  ) -> prepared_writer.ShardSummary:
    """Reads, checks and writes the pictures of a shard."""

    def finished() -> Iterator[records.Record]:
      where = str(self.reader.source)
      for start in range(0, len(task.image_ids), GROUP):
        group = [
          self.regions.add(self.reader.record(image_id, task.split))
          for image_id in task.image_ids[start : start + GROUP]
        ]
        for record in tag(group):
          validation.check_record(record, where)
          yield record
          on_picture()

    return prepared_writer.write_shard(task.folder, task.split, task.number, task.count, finished())


def tag(group: Sequence[records.Record]) -> list[records.Record]:
  """Adds parts of speech to the captions that have none."""
  untagged = [c.tokens for record in group for c in record.captions if not c.tags]
  if not untagged:
    return list(group)
  # The tagger knows lower-case words only.
  tags = iter(_tagger().tag([[token.lower() for token in tokens] for tokens in untagged]))
  return [
    dataclasses.replace(
      record,
      captions=tuple(
        caption if caption.tags else dataclasses.replace(caption, tags=tuple(next(tags)))
        for caption in record.captions
      ),
    )
    for record in group
  ]


@functools.cache
def _tagger() -> tagging.Tagger:
  return tagging.load_tagger()


def tasks(
  folder: os.PathLike[str], image_ids: Mapping[str, Sequence[str]], shards: int
) -> list[ShardTask]:
  """Cuts every split into at most `shards` shards of neighbouring pictures."""
  made = []
  for split, ids in image_ids.items():
    if not ids:
      raise errors.UserError(f"split {split} is empty: the source lists no picture of it")
    count = min(shards, len(ids))
    bounds = [number * len(ids) // count for number in range(count + 1)]
    for number, (start, end) in enumerate(itertools.pairwise(bounds)):
      made.append(ShardTask(os.fspath(folder), split, number, count, tuple(ids[start:end])))
  return made


def run(job: Job, todo: Sequence[ShardTask], workers: int) -> list[prepared_writer.ShardSummary]:
  """Makes the shards with a pool of processes, or in this one if one worker is enough."""
  total = sum(len(task.image_ids) for task in todo)
  with progress.bar(label="Preparing", total=total, unit="picture") as bar:
    if min(workers, len(todo)) == 1:
      return [job.make_shard(task, bar.update) for task in todo]
    return _run_pool(job, todo, min(workers, len(todo)), bar)


def _run_pool(
  job: Job, todo: Sequence[ShardTask], workers: int, bar
) -> list[prepared_writer.ShardSummary]:
  # Spawned, not forked: the caller may have threads, and workers need none of its modules.
  context = multiprocessing.get_context("spawn")
  done, stop = context.Value("q", 0), context.Event()
  with (
    worker_processes.one_thread_each(),
    concurrent.futures.ProcessPoolExecutor(
      workers, context, initializer=_start_worker, initargs=(job, done, stop)
    ) as pool,
  ):
    futures = [pool.submit(_make_shard, task) for task in todo]
    try:
      waiting = set(futures)
      while waiting:
        finished, waiting = concurrent.futures.wait(
          waiting, _POLL_SECONDS, concurrent.futures.FIRST_EXCEPTION
        )
        bar.update(done.value - bar.n)
        for future in finished:
          future.result()
      return [future.result() for future in futures]
    except process.BrokenProcessPool:
      raise errors.UserError(
        "a worker process was killed, perhaps because memory ran out; try fewer --workers"
      ) from None
    finally:
      # After a failure the other workers stop; after success there are none.
      stop.set()
      pool.shutdown(wait=True, cancel_futures=True)


# State of a worker process, set when it starts.
_job: Job | None = None
_done = None
_stop = None


def _start_worker(job: Job, done, stop) -> None:
  global _job, _done, _stop
  _job, _done, _stop = job, done, stop
  worker_processes.die_with_parent()


def _make_shard(task: ShardTask) -> prepared_writer.ShardSummary:
  def count() -> None:
    with _done.get_lock():
      _done.value += 1
    if _stop.is_set():
      raise errors.UserError("stopped, since another worker failed")

  return _job.make_shard(task, count)
