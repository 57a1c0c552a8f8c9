"""Tensors of messages to and from NumPy arrays, without TensorFlow."""

import math

import numpy as np

from gcap_tf import errors
from serving.wire import messages

_STRING = 7
# Number of a type in TensorFlow -> NumPy type and the field that lists its values.
_TYPES = {
  1: (np.float32, "float_val"),
  2: (np.float64, "double_val"),
  3: (np.int32, "int_val"),
  9: (np.int64, "int64_val"),
  10: (np.bool_, "bool_val"),
}
_NUMBERS = {np.dtype(kind): number for number, (kind, _) in _TYPES.items()}


def to_tensor(array: np.ndarray) -> "messages.TensorProto":
  """Returns the tensor of an array of numbers, or of an object array of bytes."""
  array = np.asarray(array)
  tensor = messages.TensorProto()
  for size in array.shape:
    tensor.tensor_shape.dim.add(size=size)
  if array.dtype.kind in "OSU":
    tensor.dtype = _STRING
    tensor.string_val.extend(
      item.encode() if isinstance(item, str) else bytes(item) for item in array.flat
    )
  elif array.dtype in _NUMBERS:
    tensor.dtype = _NUMBERS[array.dtype]
    tensor.tensor_content = np.ascontiguousarray(array).tobytes()
  else:
    known = ", ".join(str(kind) for kind in _NUMBERS)
    raise errors.UserError(f"an array of {array.dtype} cannot be sent; send {known} or bytes")
  return tensor


def to_array(tensor: "messages.TensorProto") -> np.ndarray:
  """Returns the array of a tensor; strings become an object array of bytes.

  As in TensorFlow, values are packed bytes, or a list whose last value repeats.
  """
  shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
  count = math.prod(shape)
  if tensor.dtype == _STRING:
    array = np.empty(count, object)
    array[:] = _repeat_last(list(tensor.string_val), count, b"")
  elif tensor.dtype not in _TYPES:
    raise errors.UserError(f"the server answered a tensor of the unknown type {tensor.dtype}")
  else:
    kind, field = _TYPES[tensor.dtype]
    if tensor.tensor_content:
      array = np.frombuffer(tensor.tensor_content, kind).copy()
    else:
      array = np.array(_repeat_last(list(getattr(tensor, field)), count, 0), kind)
  return array.reshape(shape)


def _repeat_last(values: list, count: int, default: object) -> list:
  last = values[-1] if values else default
  return values + [last] * (count - len(values))
