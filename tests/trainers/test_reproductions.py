"""Tests of trainers/reproductions.py."""

import json

from gcap_tf.recipes import catalog, scales
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
