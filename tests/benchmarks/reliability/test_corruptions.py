"""Tests of benchmarks/reliability/corruptions.py."""

import pytest

from benchmarks.reliability import corruptions, counts
from gcap_tf import errors


@pytest.mark.parametrize("name", corruptions.TARGETS)
def test_no_damage_is_taken_for_whole(name):
  found = counts.Counts()
  assert corruptions.corrupt(name, 25, found) == []
  assert found.total(name) == 25
  assert sum(found.of(name).get(each, 0) for each in ("refused", "earlier")) > 5


def test_other_content_and_other_exceptions_are_found(tmp_path):
  path = tmp_path / "data"
  path.mkdir()
  file = path / "x"
  file.write_bytes(b"1")
  target = corruptions.Target(path, lambda: bytes([int(file.read_bytes())]))
  file.write_bytes(b"2")
  assert corruptions.outcome(target)[0] == "silent"
  file.write_bytes(b"x")
  assert corruptions.outcome(target)[0] == "crashed"
  file.unlink()
  assert corruptions.outcome(target)[0] == "refused"
  target.kept.restore()
  assert corruptions.outcome(target) == ("unchanged", "")


def test_a_refusal_gives_its_message(tmp_path):
  (tmp_path / "x").write_bytes(b"1")
  target = corruptions.Target(tmp_path, lambda: b"")

  def refuse():
    raise errors.UserError("x is damaged")

  target.read = refuse
  assert corruptions.outcome(target) == ("refused", "x is damaged")
