"""Tests of gcap_tf/runs/checkpoints.py."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.runs import checkpoints


def made(value: float) -> keras.Model:
  model = keras.Sequential([keras.layers.Dense(2), keras.layers.BatchNormalization()])
  model(tf.zeros([1, 3]))
  for variable in model.variables:
    variable.assign(tf.fill(variable.shape, value))
  return model


def values(model: keras.Model) -> list[float]:
  return [float(np.ravel(variable.numpy())[0]) for variable in model.variables]


def test_every_variable_comes_back_trainable_or_not(tmp_path):
  checkpoints.save(tmp_path / "best", model=made(0.25))
  restored = made(0.0)
  checkpoints.restore(tmp_path / "best", model=restored)
  assert set(values(restored)) == {0.25} and len(values(restored)) == 6


class Hidden(keras.layers.Layer):
  """Keeps its variables in a tuple, where TensorFlow's own tracking misses them."""

  def __init__(self, value: float):
    super().__init__()
    self.kernels = tuple(
      self.add_weight(shape=[2], initializer=keras.initializers.Constant(value)) for _ in range(2)
    )


def test_variables_in_a_tuple_come_back_too(tmp_path):
  models = [keras.Sequential([Hidden(value)]) for value in (0.25, 0.0)]
  checkpoints.save(tmp_path / "best", model=models[0])
  checkpoints.restore(tmp_path / "best", model=models[1])
  assert values(models[1]) == [0.25, 0.25]


def test_a_model_of_another_shape_is_refused(tmp_path):
  checkpoints.save(tmp_path / "best", model=made(0.25))
  other = keras.Sequential([keras.layers.Dense(5), keras.layers.BatchNormalization()])
  other(tf.zeros([1, 3]))
  with pytest.raises(errors.UserError, match="does not fit the model"):
    checkpoints.restore(tmp_path / "best", model=other)


def test_a_state_without_a_part_that_is_needed_is_refused(tmp_path):
  checkpoints.save(tmp_path / "best", model=made(0.25), position=tf.Module())
  wanted = tf.Module()
  wanted.step = tf.Variable(0)
  with pytest.raises(errors.UserError, match="another version of this program wrote it"):
    checkpoints.restore(tmp_path / "best", model=made(0.0), position=wanted)


def test_what_a_killed_run_left_half_written_is_removed(tmp_path):
  (tmp_path / ".step-00000004.partial-77").mkdir()
  states = checkpoints.StepCheckpoints(tmp_path)
  states.save(2, model=made(2.0))
  states.remove_leftovers()
  assert [path.name for path in tmp_path.iterdir()] == ["step-00000002"]


def test_only_the_newest_states_are_kept(tmp_path):
  states = checkpoints.StepCheckpoints(tmp_path, keep=2)
  for step in (1, 2, 3):
    states.save(step, model=made(step))
  assert states.steps() == [2, 3]


@pytest.mark.parametrize("how", ["flip", "truncate", "delete", "no manifest"])
def test_a_damaged_newest_state_falls_back_to_the_one_before(tmp_path, capsys, how):
  states = checkpoints.StepCheckpoints(tmp_path)
  for step in (1, 2):
    states.save(step, model=made(step))
  data = next(states.path(2).glob("state.data*"))
  content = bytearray(data.read_bytes())
  if how == "flip":
    content[len(content) // 2] ^= 1
    data.write_bytes(content)
  elif how == "truncate":
    data.write_bytes(content[:-4])
  elif how == "delete":
    data.unlink()
  else:
    (states.path(2) / "manifest.json").unlink()
  model = made(0.0)
  assert states.restore_newest(model=model) == 1
  assert set(values(model)) == {1.0}
  assert "is damaged" in capsys.readouterr().out


def test_no_state_means_step_zero(tmp_path):
  assert checkpoints.StepCheckpoints(tmp_path / "none").restore_newest(model=made(0.0)) == 0


@pytest.mark.parametrize("change", ['"varaibles"', '"sha265"', "["])
def test_a_manifest_that_lacks_a_part_is_damage(tmp_path, change):
  model = keras.Sequential([keras.layers.Input([2]), keras.layers.Dense(1)])
  checkpoints.save(tmp_path / "step", model=model)
  path = tmp_path / "step" / "manifest.json"
  text = path.read_text()
  path.write_text(text.replace('"variables"' if "v" in change else '"sha256"', change))
  assert "cannot be read" in checkpoints.damage(tmp_path / "step")
  with pytest.raises(errors.UserError, match="damaged"):
    checkpoints.restore(tmp_path / "step", model=model)
