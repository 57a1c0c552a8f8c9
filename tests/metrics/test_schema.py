import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics import schema


def test_values_of_the_right_kind_pass():
  value = {"a": ["x"], "n": [1, 2], "b": [[0, 1, 2, 3.5]], "none": []}
  assert schema.strings(value, "a", "f") == ("x",)
  assert schema.whole_numbers(value, "n", "f") == (1, 2)
  np.testing.assert_array_equal(schema.boxes(value, "b", "f"), [[0, 1, 2, 3.5]])
  assert schema.boxes(value, "b", "f").dtype == np.float32
  assert schema.boxes(value, "none", "f", (10, 4)).shape == (0, 10, 4)


@pytest.mark.parametrize(
  "check, value, message",
  [
    (schema.strings, {}, 'f.json: no key "k"'),
    (schema.strings, [], 'f.json: no key "k"'),
    (schema.strings, {"k": "text"}, '"k" is str, expected list'),
    (schema.strings, {"k": [1]}, '"k" must list strings'),
    (schema.whole_numbers, {"k": [1.0]}, '"k" must list whole numbers'),
    (schema.whole_numbers, {"k": [True]}, '"k" must list whole numbers'),
    (schema.boxes, {"k": [[1, 2, 3], [1, 2, 3, 4]]}, "four finite numbers"),
    (schema.boxes, {"k": [[True, True, True, True]]}, "four finite numbers"),
    (schema.boxes, {"k": [[1, 2, 3, float("inf")]]}, "four finite numbers"),
  ],
)
def test_faults_name_the_place_and_the_key(check, value, message):
  with pytest.raises(errors.UserError) as error:
    check(value, "k", "f.json")
  assert message in str(error.value)


def test_one_of_several_kinds_will_do():
  assert schema.get({"id": 7}, "id", (str, int), "f") == 7
  with pytest.raises(errors.UserError, match='"id" is bool, expected str or int'):
    schema.get({"id": True}, "id", (str, int), "f")


def test_parallel_lists_have_one_length():
  schema.same_length("f", a=[1], b=[2])
  with pytest.raises(errors.UserError, match=r"lists differ in length \(a 1, b 2\)"):
    schema.same_length("f", a=[1], b=[2, 3])


def test_numbers_of_a_box_after_the_fourth_are_cut_if_asked():
  value = {"boxes": [[1, 2, 3, 4, 0.9], [5, 6, 7, 8]], "frames": [[[1, 2, 3, 4, 5]] * 2]}
  found = schema.boxes(value, "boxes", "here", cut=True)
  np.testing.assert_array_equal(found, [[1, 2, 3, 4], [5, 6, 7, 8]])
  assert schema.boxes(value, "frames", "here", (2, 4), cut=True).shape == (1, 2, 4)
  with pytest.raises(errors.UserError, match="four finite numbers"):
    schema.boxes(value, "boxes", "here")
