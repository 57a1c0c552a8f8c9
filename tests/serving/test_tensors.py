import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2

from serving import limits, servables, status, tensors

LIMITS = limits.Limits(elements=1000, string_bytes=5)
FLOATS = servables.Spec("x:0", tf.float32, (None, 2))
STRINGS = servables.Spec("t:0", tf.string, (None,))


@pytest.mark.parametrize(
  ("array", "dtype"),
  [
    (np.arange(6, dtype=np.float32).reshape(3, 2), tf.float32),
    (np.arange(6, dtype=np.int64).reshape(3, 2), tf.int64),
    (np.array([[True, False]]), tf.bool),
    (np.zeros((0, 2), np.float32), tf.float32),
  ],
)
def test_arrays_survive_both_ways(array, dtype):
  spec = servables.Spec("x:0", dtype, (None, 2))
  found = tensors.from_proto("x", tensors.to_proto(array), spec, LIMITS)
  np.testing.assert_array_equal(found, array)
  assert found.dtype == array.dtype


def test_strings_survive_both_ways():
  array = np.array([b"a", b"\xff"], object)
  found = tensors.from_proto("t", tensors.to_proto(array), STRINGS, LIMITS)
  assert found.tolist() == [b"a", b"\xff"]


@pytest.mark.parametrize(
  "array",
  [
    np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2),
    np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2).T,
    np.float32([0.1]),
    np.array(7, np.int32),
    np.arange(4, dtype=np.int64),
    np.array([[True, False]]),
    np.array([True]),
    np.array([[b"a"], [b""]], object),
    np.array([b"\xff"], object),
    np.zeros((0, 2), np.float32),
    np.zeros((0, 2), object),
    np.array([0.1, -0.0, np.inf]),
    np.arange(3, dtype=np.uint8),
  ],
  ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_answers_have_the_bytes_of_tensorflow(array):
  expected = tf.make_tensor_proto(array)
  assert tensors.to_proto(array).SerializeToString() == expected.SerializeToString()


def proto(shape, dtype=types_pb2.DT_FLOAT, **fields):
  made = tensor_pb2.TensorProto(dtype=dtype, **fields)
  for size in shape:
    made.tensor_shape.dim.add(size=size)
  made.tensor_shape.SetInParent()
  return made


def test_last_value_of_a_short_list_repeats():
  found = tensors.from_proto("x", proto([2, 2], float_val=[1, 7]), FLOATS, LIMITS)
  assert found.tolist() == [[1, 7], [7, 7]]


@pytest.mark.parametrize(
  ("sent", "message"),
  [
    (proto([10**6, 2], float_val=[1]), "larger than 1000 elements"),
    (proto([10**18, 2], float_val=[1]), "larger than 1000 elements"),
    (proto([-1, 2], float_val=[1]), "negative size"),
    (proto([2, 2], tensor_content=b"123"), "has 3 bytes; its shape needs 16"),
    (proto([2, 2]), "has 0 values"),
    (proto([1, 2], float_val=[1, 2, 3]), "has 3 values"),
    (proto([2, 2], float_val=[float("inf")]), "NaN or infinite"),
    (proto([2], float_val=[1]), "the signature takes"),
    (proto([1, 2], types_pb2.DT_INT32, int_val=[1]), "is int32; the signature takes float32"),
    (proto([1, 2], 9999, int_val=[1]), "unknown type 9999"),
  ],
)
def test_wrong_tensor_is_invalid_and_nothing_is_allocated(sent, message):
  with pytest.raises(status.ServingError, match=message) as error:
    tensors.from_proto("x", sent, FLOATS, LIMITS)
  assert error.value.code.name == "INVALID_ARGUMENT"


def test_unknown_rank_is_invalid():
  sent = proto([])
  sent.tensor_shape.unknown_rank = True
  with pytest.raises(status.ServingError, match="has no shape"):
    tensors.from_proto("x", sent, FLOATS, LIMITS)


def test_long_strings_are_invalid():
  sent = proto([1], types_pb2.DT_STRING, string_val=[b"123456"])
  with pytest.raises(status.ServingError, match="longer than 5 bytes"):
    tensors.from_proto("t", sent, STRINGS, LIMITS)


def test_wrong_number_of_strings_is_invalid():
  sent = proto([3], types_pb2.DT_STRING, string_val=[b"a", b"b"])
  with pytest.raises(status.ServingError, match="has 2 strings; its shape needs 3"):
    tensors.from_proto("t", sent, STRINGS, LIMITS)


def test_picture_may_be_longer_than_other_strings():
  bounds = limits.Limits(string_bytes=5, picture_bytes=10)
  tensors.check_values("image_bytes", np.array([b"x" * 10], object), bounds)
  with pytest.raises(status.ServingError, match="a string longer than 5"):
    tensors.check_values("labels", np.array([b"x" * 10], object), bounds)
  with pytest.raises(status.ServingError, match="a picture longer than 10"):
    tensors.check_values("image_bytes", np.array([b"x" * 11], object), bounds)


def test_labels_of_wrong_nesting_are_refused_with_the_fix():
  spec = servables.Spec("l:0", tf.string, (None, None))
  with pytest.raises(status.ServingError, match="one list of strings per picture"):
    tensors.check_shape("labels", (2,), spec, LIMITS)
