import sys

import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import beam_prepare, region_sources, shard_jobs
from gcap_tf.data.readers import datasets
from gcap_tf.data.scenes import drawn_scenes

apache_beam = pytest.importorskip("apache_beam", reason="Apache Beam is not installed")


def _job():
  reader = datasets.SceneReader(drawn_scenes.SceneConfig(train=5, val=2, test=0, captions=2))
  return shard_jobs.Job(reader, region_sources.PerfectRegions())


def _tasks(folder, job):
  folder.mkdir()
  listed = {split: job.reader.image_ids(split) for split in job.reader.splits}
  return shard_jobs.tasks(folder, listed, 3)


def test_beam_writes_the_bytes_of_the_local_runner(tmp_path):
  job = _job()
  local = shard_jobs.run(job, _tasks(tmp_path / "local", job), workers=1)
  beam = beam_prepare.run(job, _tasks(tmp_path / "beam", job), "DirectRunner", [])
  assert local == beam
  names = sorted(path.name for path in (tmp_path / "local").iterdir())
  assert names == sorted(path.name for path in (tmp_path / "beam").iterdir())
  for name in names:
    assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "beam" / name).read_bytes()


def test_the_error_of_a_worker_is_reported_in_one_line(tmp_path):
  job = _job()
  todo = [
    shard_jobs.ShardTask(str(tmp_path), "train", 0, 1, ("99",)),
  ]
  with pytest.raises(errors.UserError, match=r"^DirectRunner failed: scenes: there is no scene 99"):
    beam_prepare.run(job, todo, "DirectRunner", [])


def test_without_beam_the_error_names_the_extra(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, "apache_beam", None)
  job = _job()
  with pytest.raises(errors.UserError, match=r"pip install gcap_tf\[beam\]"):
    beam_prepare.run(job, _tasks(tmp_path / "out", job), "DirectRunner", [])
