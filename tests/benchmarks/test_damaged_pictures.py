from benchmarks import damaged_pictures
from benchmarks.reliability import damaged_files
from gcap_tf import errors
from gcap_tf.vision import pictures


def test_cut_files_bombs_and_other_files_are_refused_by_name(tmp_path):
  written = damaged_files.damaged(tmp_path, 60, 2)
  assert len(written) == len(list(tmp_path.iterdir())) == 60
  decoded = {}
  for name, damage in written.items():
    try:
      pictures.read(tmp_path / name)
      decoded.setdefault(damage, []).append(name)
    except errors.UserError as error:
      assert name in str(error) and "\n" not in str(error)
  assert not {"no_picture", "bomb"} & set(decoded)


def test_a_file_that_is_neither_named_nor_stored_has_crashed(tmp_path):
  (tmp_path / "att").mkdir()
  (tmp_path / "att" / "1.npz").touch()
  written = {"1.jpg": "cut", "2.jpg": "cut", "3.jpg": "flip"}
  found = dict(damaged_pictures.outcomes(written, tmp_path, "error: 2.jpg is damaged"))
  assert found == {"1.jpg": "decoded", "2.jpg": "named", "3.jpg": "crashed"}
