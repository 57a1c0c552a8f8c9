"""Tests of benchmarks/reliability/counts.py."""

import pytest

from benchmarks.reliability import counts
from gcap_tf import errors, locks


def test_counts_add_up_over_runs(tmp_path):
  path = tmp_path / "counts.json"
  for number in (2, 5):
    with counts.opened(path) as found:
      found.add("shards", refused=number, silent=0)
  assert counts.Counts(path).all() == {"shards": {"refused": 7, "silent": 0}}
  assert counts.Counts(path).total("shards") == 7 and counts.Counts(path).total("other") == 0


def test_numbers_are_summed_over_cases_and_carry_their_days(tmp_path):
  (tmp_path / "x.json").write_text(
    '{"first": "2026-01-02", "last": "2026-01-03", "cases": {"a": {"inputs": 2}}}'
  )
  counts.Counts(tmp_path / "x.json").add("b", inputs=5, defects=1)
  found = counts.Counts(tmp_path / "x.json")
  assert (found.sum("inputs"), found.sum("defects"), found.sum("other")) == (7, 1, 0)
  assert found.first == "2026-01-02" and found.last > "2026-01-03"


def test_counts_without_a_file_are_kept_in_memory(tmp_path):
  with counts.opened("") as found:
    found.add("a", b=1)
    assert found.of("a") == {"b": 1}
  assert not list(tmp_path.iterdir())


def test_a_file_of_something_else_is_refused(tmp_path):
  for text in ('{"cases": {"a": {"b": "c"}}}', '{"a": {"b": 1}}', "[]"):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(errors.UserError, match="expected numbers"):
      counts.Counts(tmp_path / "x.json")


def test_two_programs_do_not_count_in_one_file(tmp_path):
  with locks.hold(tmp_path / "x.json"), pytest.raises(errors.UserError, match="another program"):
    counts.opened(tmp_path / "x.json").__enter__()
