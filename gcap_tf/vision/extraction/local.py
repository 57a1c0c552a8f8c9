"""A folder of pictures to a region store, with all cores, resumable.

Every picture is written by itself, whole or not at all, by a process of one thread: how many work
on it, and what was done before, does not change a byte. A run that was killed goes on where it
stopped.
"""

import concurrent.futures
import dataclasses
import multiprocessing
import os
import pathlib
from collections.abc import Mapping, Sequence
from concurrent.futures import process

import tensorflow as tf
from absl import logging

from gcap_tf import errors, files, printing, progress, worker_processes
from gcap_tf.data.stores import extracted_store
from gcap_tf.vision.extraction import region_extractor

LOCAL = "local"
_CHUNK = 8  # pictures that a worker takes at a time
_ROLES = ("att", "box", "fc")

Chunk = Sequence[tuple[str, pathlib.Path]]


@dataclasses.dataclass(frozen=True)
class Extracted:
  """What an extraction did.

  Attributes:
    done: pictures that the store has now.
    before: those of them that it had before.
    problems: one line for every picture that could not be read.
  """

  done: int
  before: int
  problems: tuple[str, ...]

  def summary(self, out: files.PathLike) -> str:
    """One line for people."""
    before = f" ({self.before:,} of them before)" if self.before else ""
    failed = f"; {len(self.problems):,} could not be read" if self.problems else ""
    return f"{out}: regions of {printing.count(self.done, 'picture')}{before}{failed}"


@dataclasses.dataclass(frozen=True)
class Job:
  """Extracts pictures into a store; pickles, so that any process can do it."""

  config: region_extractor.ExtractionConfig
  open_run: region_extractor.OpenRun
  out: str

  def start(self) -> region_extractor.RegionExtractor:
    """Loads the detector in this process, on one thread if TensorFlow has not started."""
    try:
      tf.config.threading.set_intra_op_parallelism_threads(1)
      tf.config.threading.set_inter_op_parallelism_threads(1)
    except RuntimeError:
      logging.warning("TensorFlow has started before: it keeps its threads")
    return region_extractor.RegionExtractor(self.config, self.open_run)

  def extract(self, extractor: region_extractor.RegionExtractor, chunk: Chunk) -> list[str]:
    """Writes the regions of some pictures; returns the problems of those that have one."""
    problems = []
    for image_id, path in chunk:
      try:
        found, size = extractor.extract(image_id, path)
      except errors.UserError as error:
        problems.append(str(error))
        continue
      extracted_store.write_picture(pathlib.Path(self.out), image_id, found, size)
    return problems


def extract(
  pictures: Mapping[str, pathlib.Path],
  out: files.PathLike,
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
  workers: int = 0,
) -> Extracted:
  """Makes the store `out` of pictures; what it has already stays.

  Args:
    pictures: files by picture id.
    out: the folder of the store.
    config: what decides its bytes.
    open_run: loads a run of our detector (`runs.detector_runs.load`).
    workers: processes; 0 is one a core.
  """
  job = Job(config, open_run, str(out))
  todo = missing(pictures, pathlib.Path(out))
  problems: list[str] = []
  count = min(workers or os.cpu_count() or 1, max(1, len(todo) // _CHUNK))
  context = multiprocessing.get_context("spawn")
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Workers would mix it into the bar.
  with (
    worker_processes.one_thread_each(),
    concurrent.futures.ProcessPoolExecutor(count, context, _start, (job,)) as pool,
  ):
    try:
      check_info(pathlib.Path(out), pool.submit(_info).result())
      futures = [
        pool.submit(_extract, todo[start : start + _CHUNK]) for start in range(0, len(todo), _CHUNK)
      ]
      with progress.bar(label="Extracting", total=len(pictures), unit="picture") as bar:
        bar.update(len(pictures) - len(todo))
        for number, future in enumerate(futures):
          problems += future.result()
          bar.update(len(todo[number * _CHUNK : (number + 1) * _CHUNK]))
    except process.BrokenProcessPool:
      raise errors.UserError(
        "a worker process was killed, perhaps for want of memory; run the command again, with "
        "fewer --workers"
      ) from None
    finally:
      pool.shutdown(wait=True, cancel_futures=True)
  before = len(pictures) - len(todo)
  return Extracted(len(pictures) - len(problems), before, tuple(problems))


def missing(
  pictures: Mapping[str, pathlib.Path], out: pathlib.Path
) -> list[tuple[str, pathlib.Path]]:
  """Pictures that the store lacks; removes what killed runs left half-written."""
  for folder in (out, *(out / role for role in _ROLES)):
    files.remove_leftovers(folder)
  return [
    (image_id, path)
    for image_id, path in pictures.items()
    if not (out / "att" / f"{image_id}.npz").is_file()
  ]


def check_info(out: pathlib.Path, info: extracted_store.StoreInfo) -> None:
  """Writes `store.json`, or checks that the store there was made in the same way."""
  if not (out / extracted_store.INFO).exists():
    if out.exists() and any(out.iterdir()):
      raise errors.UserError(f"--out={out} holds something else; choose an empty folder")
    extracted_store.write_info(out, info)
    return
  found = dataclasses.asdict(extracted_store.read_info(out))
  changed = [name for name, value in dataclasses.asdict(info).items() if found[name] != value]
  if changed:
    raise errors.UserError(
      f"--out={out} holds regions that were made otherwise ({', '.join(changed)}); "
      "choose another folder, or remove it"
    )


# Of a worker process, set when it starts.
_job: Job | None = None
_extractor: region_extractor.RegionExtractor | errors.UserError | None = None


def _start(job: Job) -> None:
  global _job, _extractor
  worker_processes.die_with_parent()
  _job = job
  try:
    _extractor = job.start()
  except errors.UserError as error:
    _extractor = error  # Raised by the first task: an initializer may not fail.


def _info() -> extracted_store.StoreInfo:
  return _started().info()


def _extract(chunk: Chunk) -> list[str]:
  return _job.extract(_started(), chunk)


def _started() -> region_extractor.RegionExtractor:
  if isinstance(_extractor, errors.UserError):
    raise _extractor
  return _extractor
