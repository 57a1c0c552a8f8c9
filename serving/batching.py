"""Runs requests that arrive together as one batch.

The requests of one signature wait in one bounded queue. A worker takes as many as fit,
pads them to the same number of regions, runs them as one batch and splits the answers.
Meanwhile the next requests queue up, so a busy server runs larger batches.

The worker waits for more requests only if the last batch had more than one, or if others
arrived while it ran: a single client never waits. Clients that were answered together send
their next requests one after the other; the wait ends when no new request arrives for a
while. Once as many requests are queued as were answered and queued before, all known clients
are back, and this while is short.

If a signature has the input `num_regions`, every unknown size of its tensors but the first
is the number of regions, except in `global_feature` and `grid_features`. Signatures that read
nothing but pictures (`image_bytes`) run together as they are. Other signatures run one request at
a time.
"""

import collections
import concurrent.futures
import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Mapping

import numpy as np

from gcap_tf import config as configs
from serving import metrics as metrics_lib
from serving import servables, status, tensors

Arrays = Mapping[str, np.ndarray]
# A wait ends early after this share of the longest wait without a new request.
_GAP = 1 / 4
_GAP_IF_ALL_ARE_BACK = 1 / 40


@dataclasses.dataclass(frozen=True)
class BatchingConfig:
  """The batching options of TensorFlow Serving that the embedded server supports.

  Attributes:
    max_batch_size: most pictures in one batch.
    batch_timeout_micros: longest wait for more requests; it ends early if none arrives.
    num_batch_threads: batches that may run at once, per model version.
  """

  max_batch_size: configs.PositiveInt = 32
  batch_timeout_micros: configs.Count = 20_000
  num_batch_threads: configs.PositiveInt = 1


@dataclasses.dataclass
class Job:
  """One request in the queue."""

  inputs: Arrays
  deadline: float  # in seconds of time.monotonic()
  answer: concurrent.futures.Future = dataclasses.field(default_factory=concurrent.futures.Future)

  @functools.cached_property
  def rows(self) -> int:
    return next((len(array) for array in self.inputs.values() if array.ndim), 1)

  @functools.cached_property
  def regions(self) -> int:
    counted = (array for name, array in self.inputs.items() if name not in tensors.NOT_REGIONS)
    return max((array.shape[1] for array in counted if array.ndim > 1), default=0)

  @property
  def cells(self) -> int:
    """Cells of the grid, which has no padding: only requests with equal grids run together."""
    grid = self.inputs.get(tensors.GRID)
    return 0 if grid is None else grid.shape[1]


class Batcher:
  """The queue and the workers of one signature of one version."""

  def __init__(
    self,
    servable: servables.Servable,
    signature: servables.Signature,
    config: BatchingConfig,
    metrics: metrics_lib.Metrics,
    model_name: str,
    max_queue: int,
  ):
    self.signature = signature
    self.pads_regions = "num_regions" in signature.inputs
    self.merges = self.pads_regions or set(signature.inputs) == {tensors.PICTURES}
    self._servable, self._config = servable, config
    self._metrics, self._model_name = metrics, model_name
    self._max_queue = max_queue
    self._queue: collections.deque[Job] = collections.deque()
    self._wake = threading.Condition()
    self._closing = False
    self._threads = [
      threading.Thread(target=self._work, name=f"batch-{signature.name}-{i}", daemon=True)
      for i in range(config.num_batch_threads)
    ]
    for thread in self._threads:
      thread.start()

  def submit(self, inputs: Arrays, deadline: float) -> concurrent.futures.Future:
    """Queues a request; the caller has checked it against the signature."""
    job = Job(inputs, deadline)
    with self._wake:
      if self._closing:
        raise status.unavailable("this version is being unloaded")
      if len(self._queue) >= self._max_queue:
        self._metrics.refused.add("queue")
        raise status.unavailable(
          f"the queue of {self._max_queue} requests is full; try again later"
        )
      self._queue.append(job)
      self._wake.notify()
    return job.answer

  def waiting(self) -> int:
    return len(self._queue)

  def close(self) -> None:
    """Answers the queued requests, then stops the workers."""
    with self._wake:
      self._closing = True
      self._wake.notify_all()
    for thread in self._threads:
      thread.join()

  def _work(self) -> None:
    expected = 0
    while True:
      jobs = self._take(expected)
      if jobs is None:
        return
      expected = len(jobs)
      try:
        expected += self._run(jobs)
      except BaseException as error:  # every request gets an answer, even after a crash
        _fail(jobs, error)

  def _take(self, expected: int) -> list[Job] | None:
    """Returns the next jobs to run together; None if the batcher is closed and empty.

    Args:
      expected: number of requests that may come soon; it waits for them if there are several.
    """
    with self._wake:
      while not self._queue:
        if self._closing:
          return None
        self._wake.wait()
      if expected > 1 and self.merges:
        self._wait_for_more(expected)
      jobs, rows = [], 0
      while self._queue:
        job = self._queue[0]
        full = rows + job.rows > self._config.max_batch_size or not self.merges
        if jobs and (full or job.cells != jobs[0].cells):
          self._wake.notify()  # another worker takes the rest
          break
        self._queue.popleft()
        # From here on the caller cannot cancel the job, so it gets exactly one answer.
        if not job.answer.set_running_or_notify_cancel():
          continue
        if job.deadline <= time.monotonic():
          self._metrics.expired.add(self._model_name)
          _fail([job], status.deadline_exceeded("the deadline passed while the request was queued"))
        else:
          jobs.append(job)
          rows += job.rows
      return jobs

  def _wait_for_more(self, expected: int) -> None:
    longest = self._config.batch_timeout_micros / 1e6
    until = time.monotonic() + longest
    while not self._closing and sum(j.rows for j in self._queue) < self._config.max_batch_size:
      gap = _GAP if len(self._queue) < expected else _GAP_IF_ALL_ARE_BACK
      left = min(until - time.monotonic(), gap * longest)
      if left <= 0 or not self._wake.wait(left):
        return

  def _run(self, jobs: list[Job]) -> int:
    """Answers the jobs; returns how many requests arrived meanwhile."""
    if not jobs:
      return 0
    rows = [job.rows for job in jobs]
    self._metrics.batch_rows.observe(sum(rows), self._model_name, self.signature.name)
    if len(jobs) == 1:
      outputs = self._servable.run(self.signature, jobs[0].inputs)
      arrived = self.waiting()  # read before this client can send its next request
      jobs[0].answer.set_result(outputs)
      return arrived
    merged = merge([job.inputs for job in jobs], max(job.regions for job in jobs))
    try:
      outputs = self._servable.run(self.signature, merged)
    except status.ServingError:
      self._run_apart(jobs)
      return 0
    arrived, start = self.waiting(), 0
    for job, count in zip(jobs, rows, strict=True):
      part = {name: array[start : start + count] for name, array in outputs.items()}
      if self.pads_regions:
        part = cut_regions(part, self.signature, job.regions)
      job.answer.set_result(part)
      start += count
    return arrived

  def _run_apart(self, jobs: list[Job]) -> None:
    """Runs the jobs of a failed batch one by one; only the faulty one gets the error."""
    for job in jobs:
      try:
        job.answer.set_result(self._servable.run(self.signature, job.inputs))
      except status.ServingError as error:
        _fail([job], error)


class BatcherPool:
  """The batchers of one version; each is made at the first request for its signature."""

  def __init__(self, make: Callable[[servables.Signature], Batcher]):
    self._make = make
    self._lock = threading.Lock()
    self._batchers: dict[str, Batcher] = {}

  def get(self, signature: servables.Signature) -> Batcher:
    with self._lock:
      if signature.name not in self._batchers:
        self._batchers[signature.name] = self._make(signature)
      return self._batchers[signature.name]

  def waiting(self) -> int:
    with self._lock:
      return sum(batcher.waiting() for batcher in self._batchers.values())

  def close(self) -> None:
    with self._lock:
      for batcher in self._batchers.values():
        batcher.close()


def merge(requests: list[Arrays], regions: int) -> dict[str, np.ndarray]:
  """Concatenates requests along the batch axis, padded to `regions` regions."""
  return {
    name: np.concatenate(
      [
        request[name] if name in tensors.NOT_REGIONS else _pad(request[name], regions)
        for request in requests
      ]
    )
    for name in requests[0]
  }


def cut_regions(outputs: Arrays, signature: servables.Signature, regions: int) -> Arrays:
  """Removes the padding: every unknown size of an output but the first is regions."""
  cut = {}
  for name, array in outputs.items():
    shape = signature.outputs[name].shape or ()
    index = [slice(None)] * array.ndim
    for axis, size in enumerate(shape):
      if axis and size is None:
        index[axis] = slice(0, regions)
    cut[name] = array[tuple(index)]
  return cut


def _pad(array: np.ndarray, regions: int) -> np.ndarray:
  if array.ndim < 2 or array.shape[1] == regions:
    return array
  padded = np.zeros((array.shape[0], regions, *array.shape[2:]), array.dtype)
  if array.dtype == object:
    padded[:] = b""
  padded[:, : array.shape[1]] = array
  return padded


def _fail(jobs: list[Job], error: BaseException) -> None:
  if not isinstance(error, status.ServingError):
    error = status.internal(f"the batch failed: {type(error).__name__}: {error}")
  for job in jobs:
    if not job.answer.done():
      job.answer.set_exception(error)
