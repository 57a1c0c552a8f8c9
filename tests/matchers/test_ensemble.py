"""Ensembles of similarity matrices."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.matchers import ensemble


def test_the_mean_of_two_members():
  one, two = np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])
  np.testing.assert_array_equal(ensemble.mean_similarity([one, two]), [[2.0, 1.0]])


def test_mean_attention_still_sums_to_one():
  maps = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2, 5))
  np.testing.assert_allclose(ensemble.mean_attention(list(maps)).sum(-1), 1.0)


def test_members_of_different_shapes_are_refused():
  with pytest.raises(errors.UserError, match=r"shapes \(1, 2\), \(2, 2\)"):
    ensemble.mean_similarity([np.zeros((1, 2)), np.zeros((2, 2))])


def test_an_empty_ensemble_is_refused():
  with pytest.raises(errors.UserError, match="at least one member"):
    ensemble.mean_similarity([])
