"""Tests of gcap_tf/runs/packed_weights.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import packed_weights, run_folders


def model(**options):
  sizes = {"vocabulary_size": 8, "feature_size": 5, "hidden_size": 6, "attention_size": 4}
  return run_folders.make_model("captioner", "updown", {**sizes, **options})


@pytest.fixture
def packed(tmp_path):
  first = model()
  packed_weights.save(tmp_path / "weights.npz", first)
  return first, tmp_path / "weights.npz"


def rewrite(path, change):
  arrays = dict(np.load(path))
  change(arrays)
  np.savez(path, **arrays)


def test_weights_come_back_as_float16_keeps_them(packed):
  first, path = packed
  second = model()
  packed_weights.restore(path, second)
  for ours, theirs in zip(first.variables, second.variables, strict=True):
    kept = ours.numpy().astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(theirs.numpy(), kept)
  assert {array.dtype for array in np.load(path).values()} == {np.dtype(np.float16)}


def test_a_missing_weight_is_named(packed):
  _, path = packed
  key = sorted(np.load(path).files)[3]
  rewrite(path, lambda arrays: arrays.pop(key))
  with pytest.raises(errors.UserError, match=f"the file lacks {key}"):
    packed_weights.restore(path, model())


def test_a_weight_too_many_is_named(packed):
  _, path = packed
  rewrite(path, lambda arrays: arrays.update(stranger=np.zeros(3, np.float16)))
  with pytest.raises(errors.UserError, match="the model has not, stranger"):
    packed_weights.restore(path, model())


def test_another_shape_is_named_and_changes_nothing(packed):
  _, path = packed
  other = model(hidden_size=7)
  before = [variable.numpy() for variable in other.variables]
  with pytest.raises(errors.UserError, match=r"is \[.*\] there, \[.*\] in the model"):
    packed_weights.restore(path, other)
  for array, variable in zip(before, other.variables, strict=True):
    np.testing.assert_array_equal(array, variable.numpy())


def test_damage_is_reported_in_one_line(packed):
  _, path = packed
  whole = path.read_bytes()
  middle = len(whole) // 2
  for damaged in (whole[:middle], b"", whole[:middle] + b"\0\1\2\3" + whole[middle + 4 :]):
    path.write_bytes(damaged)
    with pytest.raises(errors.UserError, match=r"not a numpy\.savez file"):
      packed_weights.restore(path, model())
  path.unlink()
  with pytest.raises(errors.UserError, match="do not exist"):
    packed_weights.restore(path, model())


def test_numbers_that_are_not_finite_are_refused_on_both_ways(tmp_path, packed):
  first, path = packed
  key = sorted(np.load(path).files)[0]
  rewrite(path, lambda arrays: arrays[key].fill(np.nan))
  with pytest.raises(errors.UserError, match=f"{key} holds a value that is not finite"):
    packed_weights.restore(path, model())
  first.variables[0].assign(np.full(first.variables[0].shape, 1e6, np.float32))
  with pytest.raises(errors.UserError, match="does not fit into float16"):
    packed_weights.save(tmp_path / "large.npz", first)
  assert not (tmp_path / "large.npz").exists()
