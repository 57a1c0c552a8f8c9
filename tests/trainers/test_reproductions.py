"""Tests of trainers/reproductions.py."""

import dataclasses
import json
import shutil

import pytest

from gcap_tf.recipes import catalog, row_files, scales
from tests.training import small_runs
from trainers import reproductions


def test_the_table_has_the_runs_that_are_done(tmp_path):
  scale = scales.SCALES.get("smoke")
  table = catalog.table("ccr_ccs", scale)
  data = small_runs.data(tmp_path)
  made = reproductions.Reproduction(table, scale, data, "val", tmp_path / "out", ("cider",))
  rows = [table.row("scan"), table.row("scan_ccr")]
  assert not made.write(rows, (1, 2)) and made.kept(rows[0], 2) is None
  trained = made.train(rows[0], 2)
  assert made.kept(rows[0], 2) == trained and made.write(rows, (1, 2))
  (row,) = json.loads((tmp_path / "out" / "table.json").read_text())["rows"]
  assert (row["name"], row["seeds"]) == ("scan", [2])
  assert "SCAN t2i" in (tmp_path / "out" / "table.md").read_text()


def test_data_and_setting_are_those_of_the_folder(tmp_path):
  data = small_runs.data(tmp_path)
  assert "training pictures" in reproductions.describe_data(data)
  assert reproductions.setting(data, "val").split == "val"


@pytest.fixture(scope="module")
def first_machine(tmp_path_factory):
  """POS-SCAN and Up-Down that learned from it, finished with their files in rows/."""
  folder = tmp_path_factory.mktemp("first")
  scale = scales.SCALES.get("smoke")
  table, data = catalog.table("pos_scan", scale), small_runs.data(folder)
  made = reproductions.Reproduction(table, scale, data, "val", folder / "out", ("cider",))
  for name in ROWS:
    made.train(made.table.row(name), 1)
  assert made.write([made.table.row(name) for name in ROWS], (1,))
  return made


ROWS = ("pos_scan", "updown_pos_scan")


def second(first, tmp_path, **changes):
  """The same on another machine, which has only the files."""
  changes = {"data": small_runs.data(tmp_path), "out": tmp_path / "out"} | changes
  return dataclasses.replace(first, rows_from=(first.out / "rows",), _taken={}, **changes)


def test_another_machine_makes_the_same_table_from_files(first_machine, tmp_path):
  other = second(first_machine, tmp_path)
  rows = [other.table.row(name) for name in ROWS]
  assert other.to_train(ROWS, 1) == [] and other.write(rows, (1,))
  tables = [(made.out / "table.md").read_text() for made in (first_machine, other)]
  assert tables[0] == tables[1] and "| Up-Down + KL(POS-SCAN) |" in tables[0]
  assert not (other.out / "pos_scan").exists()
  for name in ROWS:
    path = row_files.path_of(first_machine.out / "rows", "pos_scan", name, 1)
    assert path.stat().st_size < 20_000
    text = json.dumps(row_files.read(path).about)
    assert f"--rows={name}" in text and str(first_machine.out) not in text


def test_a_run_that_another_needs_is_trained_again(first_machine, tmp_path):
  shutil.copytree(first_machine.out / "rows", tmp_path / "rows")
  row_files.path_of(tmp_path / "rows", "pos_scan", ROWS[1], 1).unlink()
  other = dataclasses.replace(
    second(first_machine, tmp_path), rows_from=(tmp_path / "rows",), _taken={}
  )
  assert other.kept(other.table.row("pos_scan"), 1) is not None
  assert [row.name for row in other.to_train(ROWS, 1)] == list(ROWS)
  shutil.copytree(first_machine.out / "pos_scan", other.out / "pos_scan")
  assert [row.name for row in other.to_train(ROWS, 1)] == ["updown_pos_scan"]


@pytest.mark.parametrize(
  ("changes", "reason"),
  [
    ({"split": "train"}, "its split is val, here train"),
    ({"scale": scales.SCALES.get("small")}, "its pos_scan has max_steps 4, here 350"),
    ({"data": {"seed": 5}}, "its data are hand_made, given regions, 12 training pictures ("),
  ],
)
def test_a_file_of_another_run_is_not_taken(first_machine, tmp_path, capsys, changes, reason):
  if "scale" in changes:
    changes = {**changes, "table": catalog.table("pos_scan", changes["scale"])}
  if "data" in changes:
    changes = {"data": small_runs.data(tmp_path / "other", **changes["data"])}
  other = second(first_machine, tmp_path, **changes)
  row = other.table.row("pos_scan")
  assert other.kept(row, 1) is None and other.kept(row, 1) is None
  (line,) = capsys.readouterr().err.splitlines()
  assert line.startswith("not taken: ") and line.count("pos_scan.1.json.gz") == 1
  assert reason in line


def test_a_damaged_file_is_not_taken(first_machine, tmp_path, capsys):
  path = row_files.path_of(tmp_path / "rows", "pos_scan", "pos_scan", 1)
  path.parent.mkdir(parents=True)
  path.write_bytes(b"half")
  other = second(first_machine, tmp_path)
  other = dataclasses.replace(other, rows_from=(tmp_path / "rows", *other.rows_from), _taken={})
  assert other.kept(other.table.row("pos_scan"), 1) is not None  # The next folder has it whole.
  assert "pos_scan.1.json.gz is damaged" in capsys.readouterr().err
