import dataclasses
import os
import sys
import time

import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import shard_jobs
from gcap_tf.data.readers import reader
from gcap_tf.text import tagging
from tests.data import make_records


class HandMade(reader.Reader):
  """Pictures made in memory; `fault` names one whose making goes wrong."""

  def __init__(self, count, fault="", kill=False):
    super().__init__("hand-made")
    self.items = {record.image_id: record for record in make_records.make_records(count)}
    self.fault, self.kill = fault, kill

  @property
  def splits(self):
    return ("train",)

  def image_ids(self, split):
    return list(self.items)

  def record(self, image_id, split):
    if image_id == self.fault and self.kill:
      os._exit(9)
    if image_id == self.fault:
      raise errors.UserError(f"picture {image_id} is torn")
    return self.items[image_id]


class Kept:
  """Regions as the reader gives them."""

  def add(self, record):
    return record


class Lean(Kept):
  """Fails where TensorFlow was imported or threads are not limited."""

  def add(self, record):
    if "tensorflow" in sys.modules or os.environ["OPENBLAS_NUM_THREADS"] != "1":
      raise errors.UserError("this worker is not lean")
    return record


def _run(folder, source, workers, shards=3, regions=None):
  folder.mkdir()
  todo = shard_jobs.tasks(folder, {"train": source.image_ids("train")}, shards)
  return shard_jobs.run(shard_jobs.Job(source, regions or Kept()), todo, workers)


def test_one_worker_and_many_write_the_same_bytes(tmp_path):
  one, two = (_run(tmp_path / str(n), HandMade(10), workers=n) for n in (1, 2))
  assert one == two
  names = sorted(path.name for path in (tmp_path / "1").iterdir())
  assert len(names) == 3 * 4
  for name in names:
    assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_workers_use_one_thread_and_do_not_import_tensorflow(tmp_path, monkeypatch):
  monkeypatch.setenv("OMP_NUM_THREADS", "7")
  monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
  _run(tmp_path / "out", HandMade(4), workers=2, regions=Lean())
  assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("workers", [1, 2])
def test_the_error_of_a_worker_is_reported_unchanged(tmp_path, workers):
  source = HandMade(6)
  source.fault = source.image_ids("train")[4]
  with pytest.raises(errors.UserError, match=f"^picture {source.fault} is torn$"):
    _run(tmp_path / "out", source, workers)


class Slow(HandMade):
  """Fails at once in the first shard; the second would take a minute."""

  def record(self, image_id, split):
    if image_id != self.fault:
      time.sleep(0.1)
    return super().record(image_id, split)


def test_one_failure_stops_all_workers_soon(tmp_path):
  source = Slow(1200)
  source.fault = source.image_ids("train")[0]
  start = time.monotonic()
  with pytest.raises(errors.UserError, match=r"is torn$"):
    _run(tmp_path / "out", source, workers=2, shards=2)
  assert time.monotonic() - start < 45


def test_a_killed_worker_is_reported(tmp_path):
  source = HandMade(6, kill=True)
  source.fault = source.image_ids("train")[4]
  with pytest.raises(errors.UserError, match=r"worker process was killed.*--workers"):
    _run(tmp_path / "out", source, workers=2)


def test_a_record_that_is_no_good_is_refused(tmp_path):
  source = HandMade(2)
  (image_id, record) = next(iter(source.items.items()))
  source.items[image_id] = dataclasses.replace(record, captions=())
  with pytest.raises(errors.UserError, match=f"hand-made: picture {image_id}: no caption"):
    _run(tmp_path / "out", source, workers=1)


@pytest.mark.parametrize(("count", "shards", "sizes"), [(7, 3, [2, 2, 3]), (2, 8, [1, 1])])
def test_pictures_go_to_shards_in_order(tmp_path, count, shards, sizes):
  ids = [str(n) for n in range(count)]
  todo = shard_jobs.tasks(tmp_path, {"train": ids}, shards)
  assert [len(task.image_ids) for task in todo] == sizes
  assert [image_id for task in todo for image_id in task.image_ids] == ids


def test_an_empty_split_is_refused_by_name(tmp_path):
  with pytest.raises(errors.UserError, match="split val is empty"):
    shard_jobs.tasks(tmp_path, {"train": ["1"], "val": []}, 8)


def test_only_captions_without_tags_are_tagged():
  first, second = make_records.make_records(2, captions=2)
  strange = dataclasses.replace(first.captions[0], tags=("X",) * len(first.captions[0].tokens))
  bare = dataclasses.replace(first.captions[1], tags=())
  first = dataclasses.replace(first, captions=(strange, bare))
  found = shard_jobs.tag([first, second])
  assert found[0].captions[0].tags == strange.tags
  assert found[1] == second
  expected = tagging.load_tagger().tag([list(bare.tokens)])[0]
  assert found[0].captions[1].tags == tuple(expected)
  assert len(expected) == len(bare.tokens)
