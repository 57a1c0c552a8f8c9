"""The same data preparation as an Apache Beam pipeline, for clusters.

An element is a shard to make. Workers read the source and write into the output folder,
so both must be on a file system that all workers share (not so with DirectRunner). The
bytes are those of the local runner.
"""

import json
import pathlib
from collections.abc import Sequence

from gcap_tf import errors, files, optional
from gcap_tf.data.prepared import prepared_writer, shard_jobs

RUNNERS = ("DirectRunner", "FlinkRunner", "SparkRunner", "DataflowRunner")


def run(
  job: shard_jobs.Job, todo: Sequence[shard_jobs.ShardTask], runner: str, options: Sequence[str]
) -> list[prepared_writer.ShardSummary]:
  """Makes the shards on a Beam runner.

  Args:
    job: what to do.
    todo: the shards.
    runner: one of `RUNNERS`.
    options: options of Beam itself, such as `--flink_master=localhost:8081`.
  """
  beam = optional.require("apache_beam", "beam")
  pipeline_options = optional.require("apache_beam.options.pipeline_options", "beam")
  settings = pipeline_options.PipelineOptions([f"--runner={runner}", *options])
  try:
    with beam.Pipeline(options=settings) as pipeline:
      _ = (
        pipeline
        | "Shards" >> beam.Create(list(todo))
        | "Spread" >> beam.Reshuffle()
        | "Make" >> beam.Map(_make, job)
      )
  except Exception as error:
    # Beam wraps what a worker raised in its own exception, as text.
    raise errors.UserError(f"{runner} failed: {_last_line(error)}") from error
  return [_read_summary(_summary_path(task)) for task in todo]


def _make(task: shard_jobs.ShardTask, job: shard_jobs.Job) -> None:
  summary = job.make_shard(task)
  files.write_text(_summary_path(task), json.dumps(summary.to_json()))


def _summary_path(task: shard_jobs.ShardTask) -> pathlib.Path:
  return pathlib.Path(task.folder) / f"summary_{task.split}-{task.number:05d}.json"


def _read_summary(path: pathlib.Path) -> prepared_writer.ShardSummary:
  summary = prepared_writer.ShardSummary.from_json(files.read_json(path, "summary of a shard"))
  path.unlink()
  return summary


def _last_line(error: Exception) -> str:
  lines = [line.strip() for line in str(error).splitlines() if line.strip()]
  named = [line for line in lines if "UserError:" in line]
  line = named[-1] if named else (lines[-1] if lines else type(error).__name__)
  return line.partition("UserError:")[2].strip() or line
