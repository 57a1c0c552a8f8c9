import pickle
import zipfile

import pytest
from PIL import Image

from gcap_tf import errors
from gcap_tf.data import source_files


@pytest.fixture
def archive(tmp_path):
  with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
    file.writestr("notes/a.txt", "hello")
  return tmp_path


def test_a_tree_reads_from_the_archive(archive):
  tree = source_files.Tree(archive, "all.zip", ("notes",))
  assert tree.read("notes/a.txt") == b"hello"
  assert tree.where("notes/a.txt") == f"{archive / 'all.zip'}: notes/a.txt"


def test_unpacked_folders_win_over_the_archive(archive):
  (archive / "notes").mkdir()
  (archive / "notes" / "a.txt").write_text("newer")
  tree = source_files.Tree(archive, "all.zip", ("notes",))
  assert tree.read("notes/a.txt") == b"newer"


def test_a_tree_opens_its_archive_again_after_pickling(archive):
  tree = source_files.Tree(archive, "all.zip", ("notes",))
  tree.read("notes/a.txt")
  assert pickle.loads(pickle.dumps(tree)).read("notes/a.txt") == b"hello"


def test_a_missing_member_is_named(archive):
  tree = source_files.Tree(archive, "all.zip", ("notes",))
  with pytest.raises(errors.UserError, match=r"all\.zip: notes/b\.txt is missing"):
    tree.read("notes/b.txt")


def test_lines_keep_marks_that_only_look_like_line_ends(tmp_path):
  path = tmp_path / "lines.txt"
  path.write_bytes("one\r\ntwo\u2028still two\nthree".encode())
  assert source_files.read_lines(path, "lines") == ["one", "two\u2028still two", "three"]


def test_text_that_is_not_utf8_is_named(tmp_path):
  path = tmp_path / "lines.txt"
  path.write_bytes(b"caf\xe9")
  with pytest.raises(errors.UserError, match=r"lines\.txt is not UTF-8"):
    source_files.read_lines(path, "lines")


def test_a_missing_text_file_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"captions .*none\.txt does not exist"):
    source_files.read_lines(tmp_path / "none.txt", "captions")


def test_one_file_takes_the_only_match_and_refuses_to_choose(tmp_path):
  (tmp_path / "set_a.json").write_text("{}")
  assert source_files.one_file(tmp_path, "set_*.json", "set") == tmp_path / "set_a.json"
  (tmp_path / "set_b.json").write_text("{}")
  with pytest.raises(errors.UserError, match="2 files set_"):
    source_files.one_file(tmp_path, "set_*.json", "set")
  with pytest.raises(errors.UserError, match=r"no file other_"):
    source_files.one_file(tmp_path, "other_*.json", "set")


def test_picture_size_is_width_and_height(tmp_path):
  Image.new("RGB", (7, 5)).save(tmp_path / "a.png")
  assert source_files.picture_size(tmp_path / "a.png") == (7, 5)


def test_a_file_that_is_no_picture_is_named(tmp_path):
  (tmp_path / "a.png").write_text("no picture")
  with pytest.raises(errors.UserError, match=r"a\.png is not a picture"):
    source_files.picture_size(tmp_path / "a.png")


def test_require_names_the_key_that_is_missing_or_of_another_type():
  source_files.require({"id": 1}, {"id": int}, "here")
  for entry in ({}, {"id": "x"}, [1]):
    with pytest.raises(errors.UserError, match='here: "id" is'):
      source_files.require(entry, {"id": int}, "here")
