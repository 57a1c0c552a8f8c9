import numpy as np
import pytest

from gcap_tf.metrics.answers import calibration


def drawn(count=4000, seed=0):
  rng = np.random.default_rng(seed)
  x = rng.normal(size=[count, 2])
  p = 1 / (1 + np.exp(-(1.5 * x[:, 0] - 0.5)))
  return x, (rng.uniform(size=count) < p).astype(float), p


def test_the_fit_finds_the_model_that_drew_the_data():
  x, y, _ = drawn()
  found = calibration.fit(x, y)
  np.testing.assert_allclose(found.weights, [1.5, 0.0], atol=0.12)
  assert found.bias == pytest.approx(-0.5, abs=0.12)


def test_a_constant_column_gets_no_weight():
  x, y, _ = drawn()
  found = calibration.fit(np.concatenate([x, np.full([len(x), 1], 7.0)], 1), y)
  assert found.weights[2] == 0 and np.isfinite(found(x @ np.eye(2, 3))).all()


def test_a_fit_of_equal_answers_is_finite():
  x, _, _ = drawn(100)
  found = calibration.fit(x, np.ones(100))
  assert np.isfinite(found.weights).all() and (found(x) > 0.99).all()


def test_true_probabilities_have_a_small_error_and_others_a_large_one():
  _, y, p = drawn()
  assert calibration.expected_error(p, y) < 0.04
  assert calibration.expected_error(np.clip(p + 0.3, 0, 1), y) > 0.15
  assert calibration.expected_error(np.array([0.2, 0.8]), np.array([0.0, 1.0]), 2) == (
    pytest.approx(0.2)
  )
  assert calibration.expected_error(np.zeros(0), np.zeros(0)) == 0


def test_risk_is_the_share_wrong_among_the_surest():
  coverage, risk = calibration.risk_coverage(np.array([0.1, 0.9, 0.5]), np.array([0.0, 1.0, 0.0]))
  np.testing.assert_allclose(coverage, [1 / 3, 2 / 3, 1])
  np.testing.assert_allclose(risk, [0, 1 / 2, 2 / 3])
  assert calibration.area_under_risk(np.array([0.9, 0.1]), np.array([1.0, 0.0])) == 0.25


def test_cross_fitting_scores_a_group_by_fits_that_did_not_see_it():
  x, y, _ = drawn(400)
  groups = np.arange(400) // 2
  found = calibration.cross_fitted(x, y, groups, 4)
  held = groups % 4 == 1
  np.testing.assert_allclose(found[held], calibration.fit(x[~held], y[~held])(x[held]))
