"""Tests of benchmarks/reliability/damage.py."""

import random

import pytest

from benchmarks.reliability import damage

DATA = bytes(range(256)) * 5


@pytest.mark.parametrize("function", damage.DAMAGES, ids=lambda function: function.__name__)
def test_damage_changes_bytes_of_any_size_and_depends_on_its_seed_alone(function):
  changed = [function(DATA, random.Random(seed)) for seed in range(20)]
  assert sum(each != DATA for each in changed) > 10
  assert changed == [function(DATA, random.Random(seed)) for seed in range(20)]
  for size in (1, 2, 3):
    function(DATA[:size], random.Random(size))


def test_bits_and_cuts_are_what_they_say():
  flipped = damage.flip_bit(DATA, random.Random(0))
  assert sum(a != b for a, b in zip(flipped, DATA, strict=True)) == 1
  assert DATA.startswith(damage.cut(DATA, random.Random(0)))
  assert sorted(damage.swap_blocks(DATA[:256], random.Random(1))) == sorted(DATA[:256])


def test_a_folder_is_restored_whatever_happened_to_it(tmp_path):
  (tmp_path / "inner").mkdir()
  files = {tmp_path / "a.bin": DATA, tmp_path / "b.bin": b"b", tmp_path / "inner" / "c": b""}
  for path, data in files.items():
    path.write_bytes(data)
  folder = damage.Folder(tmp_path)
  for seed in range(60):
    named = folder.damage(random.Random(seed)).partition(":")[0]
    assert tmp_path / named in files
    (tmp_path / "leftover").touch()
    folder.restore()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
