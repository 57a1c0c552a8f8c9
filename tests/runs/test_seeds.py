"""Tests of gcap_tf/runs/seeds.py."""

import dataclasses
import json

import pytest

from gcap_tf import errors
from gcap_tf.runs import seeds


@dataclasses.dataclass(frozen=True)
class Config:
  seed: int
  rate: float = 1.0


class Trained:
  """Figures that follow from the seed; remembers what was trained."""

  def __init__(self):
    self.seeds = []

  def __call__(self, config, folder):
    self.seeds.append(config.seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    return {"cider": 10.0 * config.seed, "name": "x"}


def test_mean_and_sample_deviation_by_hand():
  found = seeds.summary({1: {"cider": 1.0}, 2: {"cider": 2.0}, 4: {"cider": 6.0, "other": 1}})
  # Mean 3; squares of 2, 1 and 3 add up to 14, half of that is 7.
  assert found == {"seeds": [1, 2, 4], "cider": 3.0, "cider_std": 7.0**0.5}
  assert "3.0000 ± 2.6458" in seeds.table(found)


def test_one_seed_deviates_by_nothing():
  assert seeds.summary({7: {"rsum": 5}}) == {"seeds": [7], "rsum": 5.0, "rsum_std": 0.0}


def test_complete_seeds_are_not_trained_again(tmp_path):
  train = Trained()
  seeds.train_all(train, Config, tmp_path, [1, 2])
  found = seeds.train_all(train, Config, tmp_path, [1, 2, 3])
  assert train.seeds == [1, 2, 3]
  assert (found["seeds"], found["cider"], found["cider_std"]) == ([1, 2, 3], 20.0, 10.0)
  assert list(seeds.members(tmp_path)) == [1, 2, 3]


def test_other_options_are_refused(tmp_path):
  seeds.train_all(Trained(), Config, tmp_path, [1])
  with pytest.raises(errors.UserError, match=r"trained with rate=1\.0, not 2\.0"):
    seeds.train_all(Trained(), lambda seed: Config(seed, 2.0), tmp_path, [1])


def test_a_single_run_is_not_a_folder_of_seeds(tmp_path):
  (tmp_path / "config.json").write_text(json.dumps({}))
  assert seeds.members(tmp_path) == {} == seeds.members(tmp_path / "none")
  with pytest.raises(errors.UserError, match="without --seeds"):
    seeds.train_all(Trained(), Config, tmp_path, [1])


def test_a_seed_named_twice_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="twice"):
    seeds.train_all(Trained(), Config, tmp_path, [1, 1])


def test_ensembles_take_the_seeds_that_all_have(tmp_path):
  seeds.train_all(Trained(), Config, tmp_path / "a", [1, 2])
  seeds.train_all(Trained(), Config, tmp_path / "b", [2, 3])
  assert seeds.common([tmp_path / "a", tmp_path / "b"]) == [2]
  assert seeds.common([tmp_path / "none"]) == []
  seeds.train_all(Trained(), Config, tmp_path / "c", [9])
  with pytest.raises(errors.UserError, match="no seed has a run in all"):
    seeds.common([tmp_path / "a", tmp_path / "c"])
