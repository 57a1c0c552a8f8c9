"""Tests of gcap_tf/recipes/row_files.py."""

import dataclasses
import gzip

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments, row_files


@dataclasses.dataclass(frozen=True)
class Training:
  steps: int = 10
  teacher: str = ""
  rate: float = 0.1
  seed: int = 1


def table(**changes) -> experiments.Table:
  rows = (
    experiments.Row(name="teacher", label="Teacher", training=Training(**changes)),
    experiments.Row(name="taught", label="Taught", training=Training(20, "@teacher")),
  )
  return experiments.Table(paper="paper", split="val", columns=(), rows=rows)


def settings(found: experiments.Table, seed=2, **evaluation):
  return row_files.settings_of(found, found.row("taught"), seed, {"split": "val", **evaluation})


def statistics(seed=0, pictures=247, classes=250):
  """As many words, classes and pictures as the val photographs of Flickr30k Entities have."""
  rng = np.random.default_rng(seed)
  likely = 1 / np.arange(1, classes + 1)
  words = rng.multinomial(13, likely / likely.sum(), pictures)
  annotated = words.astype(float)
  said = np.minimum(words, rng.random(words.shape) < 0.2).astype(float)
  arrays = {
    "precision_words": said,
    "precision_hits": said * (rng.random(words.shape) < 0.3),
    "recall_words": annotated,
    "recall_hits": said * (rng.random(words.shape) < 0.2),
    "annotated": annotated,
  }
  return {
    "cider": resampling.mean(rng.gamma(1.0, 20.0, pictures)),
    "f1_all": resampling.macro_f1(**arrays),
    "f1_loc": resampling.macro_f1(**{**arrays, "precision_words": said, "recall_words": said}),
    "attention_accuracy": resampling.by_class(arrays["recall_hits"], annotated),
    "error_partial": resampling.ratio(said[:, 0], annotated.sum(1)),
  }


def finished(seed=0, **changes) -> row_files.Finished:
  made = row_files.Finished(
    settings(table()), "c5", {"cider": 51.23456789, "words": 1234}, 5.125, statistics(seed),
    {"paper": "paper", "commands": ["python -m trainers.reproduce"]},
  )  # fmt: skip
  return dataclasses.replace(made, **changes)


def test_a_file_is_small_and_equal_runs_make_equal_bytes(tmp_path):
  paths = [tmp_path / name for name in ("a", "b")]
  for path in paths:
    row_files.write(path, finished())
  assert paths[0].read_bytes() == paths[1].read_bytes()
  assert paths[0].stat().st_size < 20_000


def test_what_is_read_judges_as_what_was_kept_in_the_run(tmp_path):
  kept = {}
  for name, seed in (("better", 0), ("worse", 1)):
    resampling.save(tmp_path / f"{name}.npz", statistics(seed))
    kept[name] = resampling.load(tmp_path / f"{name}.npz")
    row_files.write(tmp_path / name, finished(statistics=kept[name]))
  read = {name: row_files.read(tmp_path / name) for name in kept}
  for figure in kept["better"]:
    of_runs, of_files = (
      resampling.compare([found["better"][figure]], [found["worse"][figure]])
      for found in (kept, {name: each.statistics for name, each in read.items()})
    )
    assert of_runs == of_files
  found = read["better"]
  assert found.result == {"figures": {"cider": 51.23456789, "words": 1234}, "minutes": 5.125}
  assert found.data == "c5" and found.settings == finished().settings
  assert found.about["commands"] == ["python -m trainers.reproduce"]


@pytest.mark.parametrize(
  "content",
  [
    b"no gzip",
    gzip.compress(b"{}"),
    gzip.compress(b"[]"),
    gzip.compress(b'{"format": "gcap_tf row 1", "arrays": []}'),
    gzip.compress(b'{"format": "gcap_tf row 0"}')[:-4],
  ],
)
def test_a_damaged_file_is_named(tmp_path, content):
  (tmp_path / "row").write_bytes(content)
  with pytest.raises(errors.UserError, match=r"row file .*row is damaged"):
    row_files.read(tmp_path / "row")


def test_settings_name_rows_and_no_folders():
  found = settings(table())
  assert found["rows"]["taught"]["teacher"] == "@teacher" and found["rows"]["taught"]["seed"] == 2
  assert list(found["rows"]) == ["teacher", "taught"] and found["split"] == "val"


@pytest.mark.parametrize(
  ("other", "reason"),
  [
    (settings(table()), ""),
    (settings(table(steps=5)), "its teacher has steps 5, here 10"),
    (settings(table(), seed=3), "its teacher has seed 3, here 2"),
    ({**settings(table()), "split": "test"}, "its split is test, here val"),
    ({**settings(table()), "rows": {}}, "it did not need teacher"),
  ],
)
def test_the_first_difference_is_named(other, reason):
  assert row_files.difference(table(), other, settings(table())) == reason


def test_an_option_that_came_later_had_its_default():
  wanted, before = settings(table()), settings(table())
  del before["rows"]["teacher"]["rate"]
  assert row_files.difference(table(), before, wanted) == ""
  before["rows"]["teacher"]["option_of_old"] = 1
  assert "its teacher has other options" in row_files.difference(table(), before, wanted)


def test_a_file_is_found_by_paper_row_and_seed(tmp_path):
  path = row_files.path_of(tmp_path, "pos_scan", "updown_pos_scan_0.2", 3)
  assert path == tmp_path / "pos_scan" / "updown_pos_scan_0.2.3.json.gz"


def test_an_array_of_zeros_alone_stays(tmp_path):
  zeros = resampling.Statistic("ratio", {"v": np.zeros([4, 1]), "c": np.ones([4, 1])})
  path = tmp_path / "row.json.gz"
  row_files.write(path, finished(statistics={"f1": zeros}))
  np.testing.assert_array_equal(row_files.read(path).statistics["f1"].arrays["v"], np.zeros([4, 1]))
