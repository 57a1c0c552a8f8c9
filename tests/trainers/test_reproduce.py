"""Tests of trainers/reproduce.py: the program as a user runs it."""

import json

from tests.trainers import command_line
from tests.training import small_runs

REPRODUCE = "trainers.reproduce"


def test_a_row_and_what_it_needs_are_trained_and_judged(tmp_path):
  small_runs.data(tmp_path)
  flags = (
    "--paper=pos_scan",
    f"--data={tmp_path / 'data'}",
    f"--out={tmp_path / 'out'}",
    "--scale=smoke",
    "--rows=updown_pos_scan",
    "--metrics=cider",
  )
  text = command_line.run(REPRODUCE, *flags).stdout
  assert "== Up-Down + KL(POS-SCAN), seed 1" in text
  table = json.loads((tmp_path / "out" / "table.json").read_text())
  assert [row["name"] for row in table["rows"]] == ["pos_scan", "updown_pos_scan"]
  assert table["rows"][1]["figures"]["attention_accuracy"]["paper"] == 29.39
  assert (tmp_path / "out" / "table.md").read_text() in text


def test_a_wrong_row_is_one_line(tmp_path):
  small_runs.data(tmp_path)
  flags = ("--paper=cyclical", f"--data={tmp_path / 'data'}", f"--out={tmp_path / 'out'}")
  done = command_line.run(REPRODUCE, *flags, "--rows=cycle")
  assert 'no row "cycle"; rows are baseline' in command_line.error(done)
