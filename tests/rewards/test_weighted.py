"""Tests of gcap_tf/rewards/weighted.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.rewards import weighted


class Lengths:
  def score(self, captions, images):
    return (captions > 0).sum(1).astype(float)


def test_the_sum_weighs_terms_that_are_computed_and_given():
  rewards = weighted.WeightedSum({"cider": 2.0, "matcher": -1.0}, {"cider": Lengths()})
  captions = np.array([[1, 2, 0], [1, 0, 0]])
  total, each = rewards.score(captions, ["a", "b"], {"matcher": np.array([0.5, 0.25])})
  np.testing.assert_allclose(total, [2 * 2 - 0.5, 2 * 1 - 0.25])
  np.testing.assert_allclose(each["cider"], [2, 1])


def test_weights_are_read_and_a_name_alone_weighs_one():
  assert weighted.parse("cider:1, matcher:0.5,bleu") == {"cider": 1.0, "matcher": 0.5, "bleu": 1.0}


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("cidre:1", 'unknown reward "cidre".*did you mean "cider"'),
    ("cider:1,cider:2", "name cider twice"),
    ("cider:much", 'the weight "much"'),
    ("cider:0", 'the weight "0"'),
    ("cider:nan", 'the weight "nan"'),
    ("", 'unknown reward ""'),
  ],
)
def test_what_cannot_be_read_is_named(text, message):
  with pytest.raises(errors.UserError, match=message):
    weighted.parse(text)
