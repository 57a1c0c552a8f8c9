import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from gcap_tf import errors
from serving.wire import arrays, messages

ARRAYS = [
  np.arange(6, dtype=np.float32).reshape(2, 3),
  np.array(2.5),
  np.array([1, -2], np.int32),
  np.array([[1 << 40]], np.int64),
  np.array([True, False]),
  np.zeros((0, 4), np.float32),
  np.array([[b"dog", b"\xff\xd8"]], object),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_tensors_are_those_of_tensorflow(array):
  sent = arrays.to_tensor(array).SerializeToString()
  official = tf.make_ndarray(tensor_pb2.TensorProto.FromString(sent))
  np.testing.assert_array_equal(official, array)
  answered = tf.make_tensor_proto(array).SerializeToString()
  back = arrays.to_array(messages.TensorProto.FromString(answered))
  np.testing.assert_array_equal(back, array)
  assert back.dtype == array.dtype


def test_last_value_of_a_list_repeats():
  tensor = messages.TensorProto(dtype=1, float_val=[1.0, 2.0])
  tensor.tensor_shape.dim.add(size=4)
  assert arrays.to_array(tensor).tolist() == [1.0, 2.0, 2.0, 2.0]


def test_strings_are_sent_as_utf_8():
  assert list(arrays.to_tensor(np.array(["é"], object)).string_val) == ["é".encode()]


def test_array_of_another_type_is_refused_in_one_line():
  with pytest.raises(errors.UserError, match="complex128 cannot be sent; send float32"):
    arrays.to_tensor(np.array([1j]))
