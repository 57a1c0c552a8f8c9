"""The same extraction as an Apache Beam pipeline, for clusters.

An element is a few pictures. Workers read the pictures and write the store where the command says,
so both must be on a file system that all of them share (DirectRunner needs nothing of the kind).
A worker that runs on one thread writes the bytes of the local runner.
"""

import functools
import json
import pathlib
from collections.abc import Mapping, Sequence

from gcap_tf import errors, files
from gcap_tf.vision.extraction import local, region_extractor

RUNNERS = ("DirectRunner", "FlinkRunner", "SparkRunner", "DataflowRunner")
_CHUNK = 64
_PROBLEMS = "problems_"


def extract(
  pictures: Mapping[str, pathlib.Path],
  out: files.PathLike,
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
  runner: str,
  options: Sequence[str],
) -> local.Extracted:
  """Makes the store `out` on a Beam runner; see `local.extract`.

  Args:
    pictures: files by picture id.
    out: the folder of the store.
    config: what decides its bytes.
    open_run: loads a run of our detector.
    runner: one of `RUNNERS`.
    options: options of Beam itself, such as `--flink_master=localhost:8081`.
  """
  beam, pipeline_options = _import_beam()
  job, folder = local.Job(config, open_run, str(out)), pathlib.Path(out)
  local.check_info(folder, _extractor(job).info())
  todo = local.missing(pictures, folder)
  chunks = [(start, todo[start : start + _CHUNK]) for start in range(0, len(todo), _CHUNK)]
  settings = pipeline_options.PipelineOptions([f"--runner={runner}", *options])
  try:
    with beam.Pipeline(options=settings) as pipeline:
      _ = (
        pipeline
        | "Pictures" >> beam.Create(chunks)
        | "Spread" >> beam.Reshuffle()
        | "Extract" >> beam.Map(_extract, job)
      )
  except Exception as error:
    # Beam wraps what a worker raised in an exception of its own, as text.
    raise errors.UserError(f"{runner} failed: {_last_line(error)}") from error
  problems = [line for path in _problem_files(folder) for line in files.read_json(path)]
  for path in _problem_files(folder):
    path.unlink()
  done = len(pictures) - len(problems)
  return local.Extracted(done, len(pictures) - len(todo), tuple(problems))


@functools.lru_cache(maxsize=1)
def _extractor(job: local.Job) -> region_extractor.RegionExtractor:
  """One a process: loading takes seconds."""
  return job.start()


def _extract(numbered: tuple[int, local.Chunk], job: local.Job) -> None:
  number, chunk = numbered
  problems = job.extract(_extractor(job), chunk)
  if problems:
    path = pathlib.Path(job.out) / f"{_PROBLEMS}{number:09d}.json"
    files.write_text(path, json.dumps(problems))


def _problem_files(folder: pathlib.Path) -> list[pathlib.Path]:
  return sorted(folder.glob(f"{_PROBLEMS}*.json"))


def _last_line(error: Exception) -> str:
  lines = [line.strip() for line in str(error).splitlines() if line.strip()]
  named = [line for line in lines if "UserError:" in line]
  line = named[-1] if named else (lines[-1] if lines else type(error).__name__)
  return line.partition("UserError:")[2].strip() or line


def _import_beam():
  try:
    import apache_beam as beam
    from apache_beam.options import pipeline_options
  except ImportError as error:
    raise errors.UserError(
      f"Apache Beam is not installed ({error}); run `pip install 'apache-beam>=2.77'`, "
      "or choose --runner=local"
    ) from None
  return beam, pipeline_options
