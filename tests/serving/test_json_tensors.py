import base64

import numpy as np
import pytest
import tensorflow as tf

from serving import json_tensors, limits, servables, status

LIMITS = limits.Limits(string_bytes=10)
SIGNATURE = servables.Signature(
  "s",
  {
    "x": servables.Spec("x:0", tf.float32, (None, None, 2)),
    "n": servables.Spec("n:0", tf.int32, (None,)),
    "t": servables.Spec("t:0", tf.string, (None, None)),
  },
  {},
)
ONE = servables.Signature("s", {"n": servables.Spec("n:0", tf.int32, (None,))}, {})


def test_rows_and_columns_give_the_same_arrays():
  rows = [{"x": [[1, 2.5]], "n": 1, "t": ["a"]}, {"x": [[3, 4]], "n": 0, "t": ["é"]}]
  columns = {"x": [[[1, 2.5]], [[3, 4]]], "n": [1, 0], "t": [["a"], ["é"]]}
  one = json_tensors.arrays_of({"instances": rows}, SIGNATURE, LIMITS)
  other = json_tensors.arrays_of({"inputs": columns}, SIGNATURE, LIMITS)
  for name in ("x", "n", "t"):
    np.testing.assert_array_equal(one[name], other[name])
  assert one["x"].dtype == np.float32
  assert one["t"].tolist() == [[b"a"], ["é".encode()]]


def test_base64_gives_any_bytes():
  encoded = {"b64": base64.b64encode(b"\xff\x00").decode()}
  request = {"inputs": {"x": [], "n": [], "t": [[encoded]]}}
  assert json_tensors.arrays_of(request, SIGNATURE, LIMITS)["t"].tolist() == [[b"\xff\x00"]]


def test_empty_lists_get_the_sizes_of_the_signature():
  found = json_tensors.arrays_of({"inputs": {"x": [], "n": [], "t": [[]]}}, SIGNATURE, LIMITS)
  assert (found["x"].shape, found["t"].shape) == ((0, 0, 2), (1, 0))


def test_bare_values_are_taken_where_there_is_one_input():
  assert json_tensors.arrays_of({"instances": [4, 5]}, ONE, LIMITS)["n"].tolist() == [4, 5]
  assert json_tensors.arrays_of({"inputs": [4, 5]}, ONE, LIMITS)["n"].tolist() == [4, 5]


@pytest.mark.parametrize(
  ("name", "value", "message"),
  [
    ("x", [[[1, 2], [3]]], "differ in length"),
    ("x", [[["a", "b"]]], "numbers of type float32"),
    ("x", [[[None, 1]]], "numbers of type float32"),
    ("x", [[[True, False]]], "numbers of type float32"),
    ("x", [[[float("nan"), 1]]], "NaN or infinite"),
    ("x", [[[1e300, 1]]], "NaN or infinite"),
    ("x", [[[1, 2, 3]]], "the signature takes"),
    ("n", [1.5], "numbers of type int32"),
    ("n", [1 << 40], "out of the range"),
    ("n", [1 << 80], "numbers of type int32"),
    ("n", {"a": 1}, "numbers of type int32"),
    ("t", [["a"], "b"], "differ in length"),
    ("t", [[1]], "must hold strings"),
    ("t", [[{"b64": "!"}]], "does not decode"),
    ("t", [["\ud800"]], "not Unicode"),
    ("t", [["x" * 11]], "longer than 10 bytes"),
  ],
)
def test_wrong_value_is_invalid_and_named(name, value, message):
  request = {"inputs": {"x": [], "n": [], "t": [], name: value}}
  with pytest.raises(status.ServingError, match=message) as error:
    json_tensors.arrays_of(request, SIGNATURE, LIMITS)
  assert f'"{name}"' in error.value.message


def test_nesting_inside_strings_does_not_count():
  body = b'{"a": "' + b"[{" * 50 + b'\\"["}'
  assert json_tensors.parse(body, LIMITS)["a"].endswith('"[')


def test_answers_come_in_the_form_of_the_request():
  outputs = {"c": np.array([b"a", b"b"], object), "v": np.array([[1.0], [np.nan]])}
  assert json_tensors.answer(outputs, rows=True) == {
    "predictions": [{"c": "a", "v": [1.0]}, {"c": "b", "v": [None]}]
  }
  assert json_tensors.answer(outputs, rows=False)["outputs"]["c"] == ["a", "b"]
  assert json_tensors.answer({"v": np.array([1])}, rows=True) == {"predictions": [1]}
  assert json_tensors.answer({"v_bytes": np.array([b"\xff"], object)}, rows=False) == {
    "outputs": [{"b64": "/w=="}]
  }
