import pytest

from gcap_tf import errors
from serving import limits


def test_deadlines_are_filled_in_and_cut():
  bounds = limits.Limits(default_deadline=5, max_deadline=60)
  assert bounds.deadline(None) == 5
  assert bounds.deadline(2.5) == 2.5
  assert bounds.deadline(9e18) == 60, "gRPC's way to say that there is none"


@pytest.mark.parametrize("name", ["batch", "in_flight", "default_deadline"])
def test_limits_are_positive(name):
  with pytest.raises(errors.UserError, match=f"limit {name} is 0"):
    limits.Limits(**{name: 0})
