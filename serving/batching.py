"""Requests that arrive together run together.

Requests of one signature wait in one bounded queue. A worker takes as many as fit,
pads their regions to the longest, runs them as one batch and cuts the answers apart
again. While it runs, the next requests gather: the fuller the server, the larger its
batches. The worker waits for company only where there was some in or behind the last batch,
so that a lone client never pays for it, and only while company keeps coming: callers that
were answered together ask again together, one after the other.

Where a request carries `num_regions`, every open size but the first of its tensors
is the number of regions. Other signatures run one request at a time.
"""

import collections
import concurrent.futures
import dataclasses
import threading
import time
from collections.abc import Callable, Mapping

import numpy as np

from serving import metrics as metrics_lib
from serving import servables, status

Arrays = Mapping[str, np.ndarray]
_GAPS = 4  # this share of the longest wait passes without a newcomer before a batch runs


@dataclasses.dataclass(frozen=True)
class BatchingConfig:
  """TensorFlow Serving's batching options, those that the embedded server has.

  Attributes:
    max_batch_size: most pictures that run together.
    batch_timeout_micros: longest wait for company; a quarter of it without a newcomer ends it.
    num_batch_threads: batches that may run at once, per model version.
  """

  max_batch_size: int = 32
  batch_timeout_micros: int = 20_000
  num_batch_threads: int = 1


@dataclasses.dataclass
class Job:
  """One request in the queue."""

  inputs: Arrays
  deadline: float  # of time.monotonic()
  answer: concurrent.futures.Future = dataclasses.field(default_factory=concurrent.futures.Future)

  @property
  def rows(self) -> int:
    return next((len(array) for array in self.inputs.values() if array.ndim), 1)

  @property
  def regions(self) -> int:
    return max(array.shape[1] for array in self.inputs.values() if array.ndim > 1)


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
    """Queues a request that was already checked against the signature."""
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
    """Answers what is queued, then stops the workers."""
    with self._wake:
      self._closing = True
      self._wake.notify_all()
    for thread in self._threads:
      thread.join()

  def _work(self) -> None:
    has_company = False
    while True:
      jobs = self._take(has_company)
      if jobs is None:
        return
      has_company = len(jobs) > 1
      try:
        has_company |= self._run(jobs)
      except BaseException as error:  # a request must be answered whatever happens
        _fail(jobs, error)

  def _take(self, wait_for_company: bool) -> list[Job] | None:
    """The next jobs to run together; None when the batcher is closed and empty."""
    with self._wake:
      while not self._queue:
        if self._closing:
          return None
        self._wake.wait()
      if wait_for_company and self.pads_regions:
        self._wait_for_company()
      jobs, rows = [], 0
      while self._queue:
        job = self._queue[0]
        full = rows + job.rows > self._config.max_batch_size or not self.pads_regions
        if jobs and full:
          self._wake.notify()  # the rest is for another worker
          break
        self._queue.popleft()
        # From here on its caller cannot cancel it any more, so that it has one answer only.
        if not job.answer.set_running_or_notify_cancel():
          continue
        if job.deadline <= time.monotonic():
          self._metrics.expired.add(self._model_name)
          _fail([job], status.late("the deadline passed while the request was queued"))
        else:
          jobs.append(job)
          rows += job.rows
      return jobs

  def _wait_for_company(self) -> None:
    longest = self._config.batch_timeout_micros / 1e6
    until = time.monotonic() + longest
    while not self._closing and sum(j.rows for j in self._queue) < self._config.max_batch_size:
      left = min(until - time.monotonic(), longest / _GAPS)
      if left <= 0 or not self._wake.wait(left):
        return

  def _run(self, jobs: list[Job]) -> bool:
    """Answers the jobs; tells whether others came while they ran."""
    if not jobs:
      return False
    rows = [job.rows for job in jobs]
    self._metrics.batch_rows.observe(sum(rows), self._model_name, self.signature.name)
    if len(jobs) == 1:
      outputs = self._servable.run(self.signature, jobs[0].inputs)
      others_came = self.waiting() > 0  # looked up before this caller can come again
      jobs[0].answer.set_result(outputs)
      return others_came
    merged = merge([job.inputs for job in jobs], max(job.regions for job in jobs))
    try:
      outputs = self._servable.run(self.signature, merged)
    except status.ServingError:
      self._run_apart(jobs)
      return True
    start = 0
    for job, count in zip(jobs, rows, strict=True):
      part = {name: array[start : start + count] for name, array in outputs.items()}
      job.answer.set_result(cut_regions(part, self.signature, job.regions))
      start += count
    return True

  def _run_apart(self, jobs: list[Job]) -> None:
    """After a failed batch: only the request that is at fault gets the error."""
    for job in jobs:
      try:
        job.answer.set_result(self._servable.run(self.signature, job.inputs))
      except status.ServingError as error:
        _fail([job], error)


class BatcherPool:
  """The batchers of one version, made when a signature is first asked for."""

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
  """Stacks requests along the batch, every region axis padded to `regions`."""
  return {
    name: np.concatenate([_pad(request[name], regions) for request in requests])
    for name in requests[0]
  }


def cut_regions(outputs: Arrays, signature: servables.Signature, regions: int) -> Arrays:
  """Undoes the padding: open sizes of outputs, but the first, are regions."""
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
