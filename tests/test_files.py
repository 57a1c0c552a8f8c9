"""Tests of gcap_tf/files.py."""

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
