"""Tests of gcap_tf/metrics/bootstrap/resampling.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.metrics.bootstrap import resampling


def test_figures_of_all_pictures_are_the_plain_ones():
  assert resampling.mean([10.0, 20.0, 60.0]).value == pytest.approx(30.0)
  sums = resampling.ratio(np.array([[1, 0], [1, 2]]), np.array([[1, 2], [1, 2]]))
  assert sums.value == pytest.approx(150.0)  # 2 of 2, and 2 of 4.
  hits, words = np.array([[1, 0], [0, 1]]), np.array([[1, 2], [1, 1]])
  assert resampling.by_class(hits, words).value == pytest.approx(100 * (1 / 2 + 1 / 3) / 2)
  found = resampling.best(np.array([[0.2, 0.5], [0.4, 0.1]]), np.array([1, 1]))
  assert found.value == pytest.approx(30.0)


def test_macro_f1_counts_classes_that_are_never_predicted():
  f1 = resampling.macro_f1(
    precision_hits=np.array([[1, 0]]),
    precision_words=np.array([[2, 0]]),
    recall_hits=np.array([[1, 0]]),
    recall_words=np.array([[1, 3]]),
    annotated=np.array([[1, 3]]),
  )
  precision, recall = 0.5 / 2, 1 / 2
  assert f1.value == pytest.approx(100 * 2 * precision * recall / (precision + recall))


def test_a_constant_difference_has_an_interval_of_no_width():
  rng = np.random.default_rng(0)
  scores = rng.uniform(0, 100, 50)
  found = resampling.compare([resampling.mean(scores + 5)], [resampling.mean(scores)])
  assert found.mean == pytest.approx(5) and found.low == pytest.approx(found.high)
  assert (found.seeds, found.pictures) == (1, 50)


def test_an_interval_covers_noise_and_grows_with_seeds_that_disagree():
  rng = np.random.default_rng(1)
  first, second = rng.normal(50, 10, [2, 200])
  noise = resampling.compare([resampling.mean(first)], [resampling.mean(second)])
  assert noise.low < 0 < noise.high
  shifted = [resampling.mean(first + shift) for shift in (0, 8)]
  seeds = resampling.compare(shifted, [resampling.mean(first)] * 2)
  assert seeds.low == pytest.approx(0) and seeds.high == pytest.approx(8)


def test_pairs_are_needed():
  with pytest.raises(ValueError, match="same seeds"):
    resampling.compare([], [])


def test_statistics_are_read_as_they_were_written(tmp_path):
  path = tmp_path / "statistics.npz"
  written = {
    "cider": resampling.mean([12.5, 30.0]),
    "attention_accuracy": resampling.by_class(np.array([[3, 0]]), np.array([[4, 1]])),
  }
  resampling.save(path, written)
  read = resampling.load(path)
  assert {name: found.value for name, found in read.items()} == pytest.approx(
    {"cider": 21.25, "attention_accuracy": 37.5}
  )
  path.write_bytes(b"PK broken")
  with pytest.raises(errors.UserError, match="are damaged"):
    resampling.load(path)


def test_rounding_twice_is_rounding_once(tmp_path):
  scores = np.random.default_rng(3).uniform(0, 100, [2, 300])
  first, second = map(resampling.mean, scores)
  exact = resampling.compare([first], [second])
  resampling.save(tmp_path / "one.npz", {"first": first, "second": second})
  one = resampling.load(tmp_path / "one.npz")
  resampling.save(tmp_path / "two.npz", one)
  two = resampling.load(tmp_path / "two.npz")
  found = [resampling.compare([each["first"]], [each["second"]]) for each in (one, two)]
  assert found[0] == found[1] and found[0].low == pytest.approx(exact.low, abs=1e-3)
  halves = resampling.rounded(np.array([0.5, 1.5], np.float32))
  np.testing.assert_array_equal(halves, [0.5, 1.5])
