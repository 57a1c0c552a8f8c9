import io
import pathlib

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.stores import numpy_objects


class Trap:
  """Would write a file when it is unpickled."""

  def __init__(self, path):
    self.path = path

  def __reduce__(self):
    return pathlib.Path.touch, (self.path,)


def test_numbers_are_read(tmp_path):
  np.save(tmp_path / "a.npy", np.eye(2))
  np.testing.assert_array_equal(numpy_objects.load(tmp_path / "a.npy", "sizes"), np.eye(2))


def test_dictionaries_are_read(tmp_path):
  rows = [{"image_w": 7, "image_h": np.int64(5)}, {"image_w": 3, "image_h": np.float32(2)}]
  np.save(tmp_path / "a.npy", np.array(rows, object))
  assert numpy_objects.load(tmp_path / "a.npy", "sizes").tolist() == rows


def test_a_pickle_that_asks_for_more_is_refused_and_not_run(tmp_path):
  np.save(tmp_path / "a.npy", np.array([Trap(tmp_path / "sprung")], object))
  with pytest.raises(errors.UserError, match=r"sizes .*a\.npy cannot be read \(it asks for"):
    numpy_objects.load(tmp_path / "a.npy", "sizes")
  assert not (tmp_path / "sprung").exists()


def test_missing_and_truncated_files_are_named(tmp_path):
  path = tmp_path / "a.npy"
  with pytest.raises(errors.UserError, match="does not exist"):
    numpy_objects.load(path, "sizes")
  np.save(path, np.array([{"a": 1}], object))
  path.write_bytes(path.read_bytes()[:-3])
  with pytest.raises(errors.UserError, match="cannot be read"):
    numpy_objects.load(path, "sizes")


def test_arrays_inside_are_read_whatever_their_order_and_kind(tmp_path):
  rows = [
    {
      "boxes": np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)),
      "names": np.array(["dog", "man"]),
      "more": [np.array([{"a": (1, None)}], object), np.int16(3), b"x", np.bool_(True)],
    }
  ]
  np.save(tmp_path / "a.npy", np.array(rows, object))
  (found,) = numpy_objects.load(tmp_path / "a.npy", "sizes")
  np.testing.assert_array_equal(found["boxes"], rows[0]["boxes"])
  assert found["names"].tolist() == ["dog", "man"]
  assert found["more"][0].tolist() == [{"a": (1, None)}]
  assert found["more"][1:] == [3, b"x", True]


@pytest.mark.parametrize("kind", ["O8", "V8", "f8"])
def test_state_that_makes_bytes_pointers_is_never_believed(tmp_path, kind):
  header = io.BytesIO()
  np.save(header, np.array([None], object))
  head = header.getvalue()[: header.getvalue().index(b"\x80")]
  array = (
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    b"(I1\n(I1\ntcnumpy\ndtype\n(S'" + kind.encode() + b"'\nI0\nI1\ntR"
    b"(I3\nS'|'\nNNNI8\nI8\nI63\ntbI00\nS'" + b"A" * 8 + b"'\ntb."
  )
  (tmp_path / "a.npy").write_bytes(head + array)
  try:
    found = numpy_objects.load(tmp_path / "a.npy", "sizes")
  except errors.UserError as error:
    assert "cannot be read" in str(error)
  else:
    assert kind == "f8" and found.size == 1
