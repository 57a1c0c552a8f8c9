import concurrent.futures
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

from serving import batching, metrics, servables, status

SIGNATURE = servables.Signature(
  "s",
  {
    "x": servables.Spec("x:0", tf.float32, (None, None)),
    "num_regions": servables.Spec("n:0", tf.int32, (None,)),
  },
  {
    "sum": servables.Spec("s:0", tf.float32, (None,)),
    "x": servables.Spec("y:0", tf.float32, (None, None)),
  },
)


class Adder:
  """A servable in Python: sums rows, can be held, can fail on a value."""

  def __init__(self):
    self.batches = []
    self.free = threading.Event()
    self.free.set()

  def run(self, signature, inputs):
    self.free.wait()
    self.batches.append(len(inputs["x"]))
    if (inputs["x"] == 666).any():
      raise status.invalid("666 is refused")
    if (inputs["x"] == 667).any():
      raise ZeroDivisionError("a bug")
    return {"sum": inputs["x"].sum(1), "x": inputs["x"]}


@pytest.fixture
def adder():
  return Adder()


@pytest.fixture
def make(adder):
  made = []

  def make(**options):
    queue = options.pop("max_queue", 100)
    config = batching.BatchingConfig(**options)
    figures = metrics.Metrics()
    made.append(batching.Batcher(adder, SIGNATURE, config, figures, "m", queue))
    made[-1].figures = figures
    return made[-1]

  yield make
  adder.free.set()
  for batcher in made:
    batcher.close()


def inputs(*rows):
  return {"x": np.array(rows, np.float32), "num_regions": np.zeros(len(rows), np.int32)}


def submit(batcher, *rows, seconds=30.0):
  return batcher.submit(inputs(*rows), time.monotonic() + seconds)


def hold_worker(adder, batcher):
  """Keeps the worker busy, so that what comes next is queued together."""
  adder.free.clear()
  first = submit(batcher, [0])
  while batcher.waiting():
    time.sleep(0.001)
  return first


def test_queued_requests_run_together_and_get_their_own_rows_and_sizes(adder, make):
  batcher = make()
  first = hold_worker(adder, batcher)
  pending = [submit(batcher, [1, 2]), submit(batcher, [3], [4]), submit(batcher, [5, 6, 7])]
  adder.free.set()
  answers = [p.result(30) for p in pending]
  assert [a["sum"].tolist() for a in answers] == [[3], [3, 4], [18]]
  assert [a["x"].tolist() for a in answers] == [[[1, 2]], [[3], [4]], [[5, 6, 7]]]
  assert adder.batches == [1, 4]
  first.result(30)


def test_batches_stay_below_the_largest_size(adder, make):
  batcher = make(max_batch_size=3)
  hold_worker(adder, batcher)
  pending = [submit(batcher, [1], [1]) for _ in range(3)]
  adder.free.set()
  concurrent.futures.wait(pending, 30)
  assert adder.batches == [1, 2, 2, 2]


def test_request_larger_than_a_batch_runs_alone(adder, make):
  batcher = make(max_batch_size=2)
  assert submit(batcher, [1], [2], [3]).result(30)["sum"].tolist() == [1, 2, 3]


def test_only_the_request_at_fault_gets_the_error(adder, make):
  batcher = make()
  hold_worker(adder, batcher)
  good, bad = submit(batcher, [1]), submit(batcher, [666])
  adder.free.set()
  assert good.result(30)["sum"].tolist() == [1]
  with pytest.raises(status.ServingError, match="666 is refused"):
    bad.result(30)


def test_bug_in_a_batch_is_answered_and_the_worker_lives_on(make):
  batcher = make()
  with pytest.raises(status.ServingError, match="ZeroDivisionError: a bug") as error:
    submit(batcher, [667]).result(30)
  assert error.value.code.name == "INTERNAL"
  assert submit(batcher, [2]).result(30)["sum"].tolist() == [2]


def test_full_queue_refuses_at_once(adder, make):
  batcher = make(max_queue=2)
  hold_worker(adder, batcher)
  submit(batcher, [1])
  submit(batcher, [1])
  with pytest.raises(status.ServingError, match="queue of 2 requests is full"):
    submit(batcher, [1])
  assert batcher.figures.refused.value("queue") == 1


def test_late_and_cancelled_requests_are_not_run(adder, make):
  batcher = make()
  hold_worker(adder, batcher)
  late, cancelled, good = (
    submit(batcher, [1], seconds=0),
    submit(batcher, [2]),
    submit(batcher, [3]),
  )
  cancelled.cancel()
  adder.free.set()
  assert good.result(30)["sum"].tolist() == [3]
  with pytest.raises(status.ServingError, match="deadline passed"):
    late.result(30)
  assert adder.batches == [1, 1]
  assert batcher.figures.expired.value("m") == 1


def test_close_answers_what_is_queued_and_takes_no_more(adder, make):
  batcher = make()
  hold_worker(adder, batcher)
  pending = submit(batcher, [5])
  threading.Timer(0.05, adder.free.set).start()
  batcher.close()
  assert pending.result(0)["sum"].tolist() == [5]
  with pytest.raises(status.ServingError, match="being unloaded"):
    submit(batcher, [1])


def test_single_client_does_not_wait_for_others(make):
  batcher = make(batch_timeout_micros=20_000_000)
  started = time.monotonic()
  for _ in range(3):
    submit(batcher, [1]).result(30)
  assert time.monotonic() - started < 15, "a request waited for the window"


def test_two_callers_out_of_step_are_brought_together(adder, make):
  batcher = make(batch_timeout_micros=4_000_000)
  first = hold_worker(adder, batcher)
  second = submit(batcher, [1])  # came while the first ran
  adder.free.set()
  first.result(30)
  again = submit(batcher, [1])
  concurrent.futures.wait([second, again], 30)
  assert adder.batches == [1, 2]


def test_waiting_goes_on_while_company_keeps_coming_and_no_longer(adder, make):
  batcher = make(batch_timeout_micros=12_000_000)
  hold_worker(adder, batcher)
  together = [submit(batcher, [1]) for _ in range(4)]
  adder.free.set()
  concurrent.futures.wait(together, 30)
  started = time.monotonic()
  pending = []
  for _ in range(3):
    pending.append(submit(batcher, [1]))
    time.sleep(0.3)
  concurrent.futures.wait(pending, 30)
  assert adder.batches == [1, 4, 3]
  assert 3.0 < time.monotonic() - started < 11.9, "a quarter of the window after the last"


def test_wait_is_short_once_all_known_callers_are_back(adder, make):
  batcher = make(batch_timeout_micros=40_000_000)
  first = hold_worker(adder, batcher)
  together = [submit(batcher, [1]), submit(batcher, [1])]
  started = time.monotonic()
  adder.free.set()
  first.result(30)
  together.append(submit(batcher, [1]))
  concurrent.futures.wait(together, 30)
  assert adder.batches == [1, 3]
  assert time.monotonic() - started < 9, "a quarter of the window is 10 s, a fortieth 1 s"


def test_strings_are_padded_with_empty_ones():
  one = {"t": np.array([[b"a"]], object)}
  two = {"t": np.array([[b"b", b"c"]], object)}
  merged = batching.merge([one, two], 2)
  assert merged["t"].tolist() == [[b"a", b""], [b"b", b"c"]]


def test_caller_that_gives_up_at_the_very_deadline_does_not_end_the_worker(adder, make):
  batcher = make()
  first = hold_worker(adder, batcher)
  late = submit(batcher, [1], seconds=0.0)
  is_done = late.done
  late.done = lambda: is_done() or late.cancel()  # cancels between the look and the answer
  adder.free.set()
  assert first.result(10)["sum"] == [0]
  assert submit(batcher, [2]).result(10)["sum"] == [2], "the worker has gone"
  assert late.exception(10).code.name == "DEADLINE_EXCEEDED"


def test_pictures_run_together_without_padding():
  spec = servables.Spec("i:0", tf.string, (None,))
  signature = servables.Signature(
    "caption_image",
    {"image_bytes": spec},
    {"size": servables.Spec("s:0", tf.int32, (None, None))},
  )
  free, batches = threading.Event(), []

  class Measurer:
    def run(self, signature, inputs):
      free.wait()
      batches.append(len(inputs["image_bytes"]))
      return {"size": np.array([[len(data), 7] for data in inputs["image_bytes"]])}

  batcher = batching.Batcher(
    Measurer(), signature, batching.BatchingConfig(), metrics.Metrics(), "m", 100
  )

  def ask(*pictures):
    array = np.array(pictures, object)
    return batcher.submit({"image_bytes": array}, time.monotonic() + 30)

  pending = [ask(b"a")]
  while batcher.waiting():
    time.sleep(0.001)
  pending += [ask(b"bb", b"ccc"), ask(b"dddd")]
  free.set()
  sizes = [job.result(30)["size"].tolist() for job in pending]
  batcher.close()
  assert sizes == [[[1, 7]], [[2, 7], [3, 7]], [[4, 7]]]
  assert batches == [1, 3]


def test_global_features_and_grids_are_not_padded_with_the_regions():
  one = {
    "x": np.ones((1, 2)),
    "global_feature": np.ones((1, 5)),
    "grid_features": np.ones((1, 4, 3)),
  }
  other = one | {"x": np.ones((2, 3)), "global_feature": np.ones((2, 5))}
  other["grid_features"] = np.ones((2, 4, 3))
  assert batching.Job(one, 0.0).regions == 2
  merged = batching.merge([one, other], 3)
  assert {name: array.shape for name, array in merged.items()} == {
    "x": (3, 3),
    "global_feature": (3, 5),
    "grid_features": (3, 4, 3),
  }


def test_requests_with_other_grids_run_apart(adder, make):
  batcher = make()
  first = hold_worker(adder, batcher)

  def ask(cells):
    grid = np.ones((1, cells, 2), np.float32)
    return batcher.submit(inputs([1]) | {"grid_features": grid}, time.monotonic() + 30)

  pending = [ask(4), ask(4), ask(9)]
  adder.free.set()
  for job in (first, *pending):
    job.result(30)
  assert adder.batches == [1, 2, 1]
