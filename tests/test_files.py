"""Tests of gcap_tf/files.py."""

import subprocess
import sys
import time

import pytest

from gcap_tf import errors, files


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
  path = tmp_path / "value.json"
  files.write_json(path, {"a": 1})
  with pytest.raises(RuntimeError), files.atomic_path(path) as partial:
    partial.write_text("half")
    raise RuntimeError
  assert files.read_json(path) == {"a": 1}
  assert [p.name for p in tmp_path.iterdir()] == ["value.json"]


def test_what_a_killed_program_left_is_removed_and_nothing_else(tmp_path):
  for name in (".a.json.partial-7", ".b.partial-8", ".a.json.lock", "c.partial-9", "a.json"):
    (tmp_path / name).write_text("")
  (tmp_path / ".folder.partial-7").mkdir()
  (tmp_path / ".folder.partial-7" / "half").write_text("")
  files.remove_leftovers(tmp_path, "a.json")
  assert not (tmp_path / ".a.json.partial-7").exists() and (tmp_path / ".b.partial-8").exists()
  files.remove_leftovers(tmp_path)
  files.remove_leftovers(tmp_path / "absent")
  assert {p.name for p in tmp_path.iterdir()} == {".a.json.lock", "c.partial-9", "a.json"}


def test_a_folder_is_replaced_as_a_whole(tmp_path):
  for content in ("old", "new"):
    with files.atomic_path(tmp_path / "folder") as partial:
      partial.mkdir()
      (partial / content).write_text(content)
  assert [p.name for p in (tmp_path / "folder").iterdir()] == ["new"]


def test_a_missing_or_broken_json_names_the_file(tmp_path):
  with pytest.raises(errors.UserError, match=r"vocabulary .*none\.json does not exist"):
    files.read_json(tmp_path / "none.json", "vocabulary")
  (tmp_path / "broken.json").write_text("{")
  with pytest.raises(errors.UserError, match=r"broken\.json is not valid JSON"):
    files.read_json(tmp_path / "broken.json")


def test_sha256_of_a_known_file(tmp_path):
  (tmp_path / "abc").write_bytes(b"abc")
  assert files.sha256(tmp_path / "abc").startswith("ba7816bf8f01cfea")


def test_lists_of_numbers_take_one_line(tmp_path):
  value = {"numbers": [1, -2.5, 3e-7], "rows": [[1, 2], ["[\n1\n]", None]], "none": []}
  path = tmp_path / "x.json"
  files.write_json(path, value)
  assert files.read_json(path) == value
  assert '"numbers": [1, -2.5, 3e-07]' in path.read_text()


def test_two_folders_swap_their_names(tmp_path):
  for name in ("a", "b"):
    (tmp_path / name).mkdir()
    (tmp_path / name / name).write_text(name)
  files.exchange(tmp_path / "a", tmp_path / "b")
  assert (tmp_path / "a" / "b").exists() and (tmp_path / "b" / "a").exists()


def test_a_file_system_that_cannot_swap_renames_instead(tmp_path, monkeypatch):
  monkeypatch.setattr(files, "_EXCHANGE", 1 << 20)  # A flag that no kernel knows.
  test_two_folders_swap_their_names(tmp_path)
  assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_program_killed_while_it_replaces_a_folder_leaves_the_old_or_the_new(tmp_path):
  """A child replaces the folder again and again until it is killed; the folder is always whole."""
  program = (
    "import sys\nfrom gcap_tf import files\n"
    "for number in range(10**6):\n"
    "  with files.atomic_path(sys.argv[1]) as partial:\n"
    "    partial.mkdir()\n"
    "    for name in 'abc':\n"
    "      (partial / name).write_text(str(number))\n"
    "  print(number, flush=True)\n"
  )
  for kill in range(3):
    child = subprocess.Popen(
      [sys.executable, "-c", program, str(tmp_path / "folder")], stdout=subprocess.PIPE
    )
    child.stdout.readline()
    time.sleep(0.01 * kill)
    child.kill()
    child.wait()
    found = [(tmp_path / "folder" / name).read_text() for name in "abc"]
    assert found[0].isdecimal() and len(set(found)) == 1


def test_sealed_values_show_a_change_and_unsealed_ones_pass(tmp_path):
  values = {"a": [1, 2.5], "ü": {"b": None}}
  files.write_json(tmp_path / "x.json", files.seal(values))
  read = files.read_json(tmp_path / "x.json")
  assert files.unseal(read, "x.json", "file") == values
  assert files.unseal(values, "x.json", "file") == values
  with pytest.raises(errors.UserError, match=r"file x\.json is damaged"):
    files.unseal({**read, "a": [1, 2.25]}, "x.json", "file")


def test_json_that_nests_too_deep_is_one_line(tmp_path):
  (tmp_path / "deep.json").write_text("[" * 100_000)
  with pytest.raises(errors.UserError, match="not valid JSON"):
    files.read_json(tmp_path / "deep.json")


def test_a_sealed_file_reads_back_and_its_damage_is_named(tmp_path):
  path = tmp_path / "x.json"
  files.write_sealed_json(path, {"a": [1, 2.5]})
  assert files.read_sealed_json(path, "file") == {"a": [1, 2.5]}
  path.write_text(path.read_text().replace("2.5", "2.6"))
  with pytest.raises(errors.UserError, match=r"x\.json is damaged"):
    files.read_sealed_json(path, "file")
  path.write_text("[1]")
  assert files.read_sealed_json(path, "file") == [1]
