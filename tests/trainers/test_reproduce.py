"""Tests of trainers/reproduce.py: the program as a user runs it."""

import json

from tests.trainers import command_line
from tests.training import small_runs

REPRODUCE = "trainers.reproduce"


def test_a_row_and_what_it_needs_are_trained_and_judged(tmp_path):
  small_runs.data(tmp_path)
  given = (
    "--paper=pos_scan",
    f"--data={tmp_path / 'data'}",
    f"--out={tmp_path / 'out'}",
    "--scale=smoke",
    "--rows=updown_pos_scan",
    "--metrics=cider",
  )
  text = command_line.run(REPRODUCE, *given).stdout
  assert "== Up-Down + KL(POS-SCAN), seed 1" in text
  table = json.loads((tmp_path / "out" / "table.json").read_text())
  assert [row["name"] for row in table["rows"]] == ["pos_scan", "updown_pos_scan"]
  assert table["rows"][1]["figures"]["attention_accuracy"]["paper"] is None  # Other data.
  assert (tmp_path / "out" / "table.md").read_text() in text


def test_rows_are_listed_with_printed_figures_cost_and_command():
  done = command_line.run(REPRODUCE, "--paper=distributed", "--list")
  assert done.returncode == 0
  lines = done.stdout.splitlines()
  assert any(line.startswith("k4 ") and "f1_loc 21.54" in line for line in lines)
  assert any("--paper=distributed --data=DATA --out=OUT" in line for line in lines)
  assert "50 minutes on 2 CPU cores" in done.stdout


def test_a_wrong_row_is_one_line(tmp_path):
  small_runs.data(tmp_path)
  given = ("--paper=cyclical", f"--data={tmp_path / 'data'}", f"--out={tmp_path / 'out'}")
  done = command_line.run(REPRODUCE, *given, "--rows=cycle")
  assert 'no row "cycle"; rows are baseline' in command_line.error(done)
