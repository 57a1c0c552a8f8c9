"""Tests of benchmarks/reliability/table.py: the page shows the counts that are kept."""

# bazel: data = ["//docs:files"]

import pathlib

import pytest

from benchmarks.reliability import counts, table
from gcap_tf import errors

DOCS = pathlib.Path(table.__file__).parents[2] / "docs"


def test_the_page_shows_the_counts_that_are_kept():
  table.update(DOCS / "reliability.md", DOCS / "reliability", check=True)


def test_a_new_count_makes_the_page_out_of_date_until_it_is_written(tmp_path):
  page = tmp_path / "page.md"
  page.write_text(f"before\n{table.BEGIN}\n{table.END}\nafter\n")
  table.update(page, tmp_path)
  assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
  table.update(page, tmp_path, check=True)
  counts.Counts(tmp_path / "corruptions.json").add("store", refused=12_000, silent=1)
  with pytest.raises(errors.UserError, match="has another table"):
    table.update(page, tmp_path, check=True)
  table.update(page, tmp_path)
  assert "| 10,000, 0 | 12,001, 1 |" in page.read_text()


def test_a_page_without_the_comment_lines_is_refused(tmp_path):
  (tmp_path / "page.md").write_text("nothing")
  with pytest.raises(errors.UserError, match="has no lines"):
    table.update(tmp_path / "page.md", tmp_path)


def test_every_row_shows_what_failed(tmp_path):
  server = counts.Counts(tmp_path / "server.json")
  server.add("fuzz", held=5, FAILED=7)
  server.add("swaps", held=5, FAILED=7, failed=3, mixed=2, requests=9, rounds=2, slow_rounds=1)
  server.add("kills", held=5, FAILED=7, broken=2)
  counts.Counts(tmp_path / "training_kills.json").add("scst", kills=4, other_bits=1)
  counts.Counts(tmp_path / "answers.json").add("regions", **{"Python": 3, "Java DIFFERENT": 2})
  counts.Counts(tmp_path / "disk_faults.json").add("caption", **{"full": 1, "slow FAILED": 1})
  lines = "\n".join(row.line(tmp_path) for row in table.ROWS)
  for shown in (
    "7 in runs that failed",
    "12 with 0 damaged ones; 9 answers, 3 failed, 2 mixed",
    "p99 over 1.5 times that before in 1 of 2 runs",
    "| 12, 2 |",
    "final states: 0 the same bits, 1 others",
    "regions 3: equal SavedModel 0, server 0, Java 0; different 2",
    "1 faults held, 1 failed: `caption`",
  ):
    assert shown in lines, shown
