"""Tests of trainers/reproduce.py: the program as a user runs it."""

import json

from gcap_tf.recipes import scales
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
  page = (tmp_path / "out" / "table.md").read_text()
  assert page in text and "- options.hidden_size 16 instead of 512" in page
  assert "Departures of the scale smoke:" in page and "Departures at every scale:" in page
  assert (tmp_path / "out" / "updown_pos_scan" / "seed_1" / "statistics.npz").exists()


def test_claims_have_intervals_and_a_second_command_trains_nothing(tmp_path):
  small_runs.data(tmp_path)
  given = (
    "--paper=ccr_ccs",
    f"--data={tmp_path / 'data'}",
    f"--out={tmp_path / 'out'}",
    "--scale=smoke",
    "--rows=scan,scan_ccr",
    "--seeds=1,2",
  )
  assert "seed 2" in command_line.run(REPRODUCE, *given).stdout
  table = json.loads((tmp_path / "out" / "table.json").read_text())
  claims = {(claim["better"], claim["key"]): claim for claim in table["claims"]}
  interval = claims["SCAN t2i + CCR", "attention_f1"]["interval"]
  assert interval["seeds"] == 2 and interval["low"] <= interval["high"]
  assert table["correlations"][0]["runs"] == 4
  again = command_line.run(REPRODUCE, *given)
  assert "training scan" not in again.stderr and again.returncode == 0
  rows, other = tmp_path / "out" / "rows", tmp_path / "other"
  moved = [flag.replace(str(tmp_path / "out"), str(other)) for flag in given]
  done = command_line.run(REPRODUCE, *moved, f"--rows_from={rows}")
  assert "== SCAN t2i + CCR, seed 2: finished elsewhere" in done.stdout
  assert (other / "table.md").read_text() == (tmp_path / "out" / "table.md").read_text()
  assert not (other / "scan").exists()


def test_a_missing_folder_of_rows_is_one_line(tmp_path):
  small_runs.data(tmp_path)
  given = ("--paper=cyclical", f"--data={tmp_path / 'data'}", f"--out={tmp_path / 'out'}")
  done = command_line.run(REPRODUCE, *given, f"--rows_from={tmp_path / 'none'}")
  assert f"--rows_from={tmp_path / 'none'} is no folder" in command_line.error(done)


def test_a_search_is_a_table_of_combinations(tmp_path):
  done = command_line.run(REPRODUCE, "--paper=ccr_ccs", "--search=bfan_ccr", "--list")
  assert len(done.stdout.splitlines()) == 6
  wrong = command_line.run(REPRODUCE, "--paper=cyclical", "--search=baseline", "--list")
  assert "--search is for --paper=ccr_ccs" in command_line.error(wrong)


def test_rows_are_listed_with_printed_figures_cost_and_command():
  done = command_line.run(REPRODUCE, "--paper=distributed", "--list")
  assert done.returncode == 0
  lines = done.stdout.splitlines()
  assert any(line.startswith("k4 ") and "f1_loc 21.54" in line for line in lines)
  assert any("--paper=distributed --data=DATA --out=OUT" in line for line in lines)
  assert "50 minutes on 2 CPU cores" in done.stdout
  assert "Zhou et al. is --paper=pos_scan --rows=updown_pos_scan_0.2_scst_scan" in done.stdout


def test_every_scale_can_be_chosen():
  text = command_line.run(REPRODUCE, "--help").stdout
  assert f"<{'|'.join(sorted(scales.SCALES.names()))}>" in text


def test_a_wrong_row_is_one_line(tmp_path):
  small_runs.data(tmp_path)
  given = ("--paper=cyclical", f"--data={tmp_path / 'data'}", f"--out={tmp_path / 'out'}")
  done = command_line.run(REPRODUCE, *given, "--rows=cycle")
  assert 'no row "cycle"; rows are baseline' in command_line.error(done)
