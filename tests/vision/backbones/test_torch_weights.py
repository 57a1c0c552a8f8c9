import collections
import os
import pickle
import struct
from typing import ClassVar

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.backbones import torch_weights

_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001


class _Name:
  """Pickles as the bare name module.name, which need not exist here."""

  def __init__(self, module, name):
    self.module, self.name = module, name


class _Call:
  """Pickles as a call of a named function."""

  def __init__(self, function, *arguments):
    self.function, self.arguments = function, arguments


class _Storage(str):
  pass


class _Pickler(pickle._Pickler):
  """Writes what `torch.save` writes, without PyTorch."""

  dispatch: ClassVar[dict] = dict(pickle._Pickler.dispatch)

  def persistent_id(self, value):
    if type(value) is _Storage:
      return ("storage", _Name("torch", "FloatStorage"), str(value), "cpu", 6, None)
    return None

  def save_name(self, value):
    self.write(b"c" + f"{value.module}\n{value.name}\n".encode())

  def save_call(self, value):
    self.save(value.function)
    self.save(value.arguments)
    self.write(pickle.REDUCE)

  dispatch[_Name] = save_name
  dispatch[_Call] = save_call


def _tensor(shape=(2, 3), strides=(3, 1), offset=0):
  rebuild = _Name("torch._utils", "_rebuild_tensor_v2")
  return _Call(rebuild, _Storage("7"), offset, shape, strides, False, collections.OrderedDict())


def _write(path, state, values=range(6), magic=_MAGIC):
  with open(path, "wb") as file:
    for part in (magic, _VERSION, {"little_endian": True}, state, ["7"]):
      _Pickler(file, 2).dump(part)
    file.write(struct.pack("<q", 6) + np.array(values, "<f4").tobytes())
  return path


def test_tensors_are_read_with_their_strides(tmp_path):
  path = _write(tmp_path / "w.pth", {"a": _tensor(), "b": _tensor((3, 2), (1, 3))})
  state = torch_weights.read(path)
  np.testing.assert_array_equal(state["a"], [[0, 1, 2], [3, 4, 5]])
  np.testing.assert_array_equal(state["b"], [[0, 3], [1, 4], [2, 5]])


def test_a_pickle_that_calls_a_program_is_refused_and_the_program_does_not_run(tmp_path):
  mark = tmp_path / "ran"
  call = _Call(_Name("os", "system"), f"touch {mark}")
  path = _write(tmp_path / "w.pth", {"a": call})
  with pytest.raises(errors.UserError, match=r"os\.system"):
    torch_weights.read(path)
  assert not mark.exists()


@pytest.mark.parametrize(
  "name", ["builtins.eval", "torch.load", "collections.Counter", "torch._utils._rebuild_parameter"]
)
def test_names_that_are_no_tensor_are_refused(tmp_path, name):
  module, _, last = name.rpartition(".")
  path = _write(tmp_path / "w.pth", {"a": _Call(_Name(module, last), "1")})
  with pytest.raises(errors.UserError, match="no tensor"):
    torch_weights.read(path)


def test_a_tensor_past_its_storage_is_refused(tmp_path):
  path = _write(tmp_path / "w.pth", {"a": _tensor((100, 3))})
  with pytest.raises(errors.UserError, match="past its storage"):
    torch_weights.read(path)


def test_anything_but_a_dictionary_of_tensors_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="dictionary of tensors"):
    torch_weights.read(_write(tmp_path / "w.pth", {"a": 5}))


def test_a_cut_file_is_named(tmp_path):
  path = _write(tmp_path / "w.pth", {"a": _tensor()})
  data = path.read_bytes()
  for size in (0, 10, len(data) // 2, len(data) - 4):
    path.write_bytes(data[:size])
    with pytest.raises(errors.UserError, match=r"w\.pth"):
      torch_weights.read(path)


def test_a_wrong_magic_number_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="magic"):
    torch_weights.read(_write(tmp_path / "w.pth", {"a": _tensor()}, magic=3))
  (tmp_path / "noise.pth").write_bytes(os.urandom(300))
  with pytest.raises(errors.UserError, match=r"noise\.pth"):
    torch_weights.read(tmp_path / "noise.pth")
