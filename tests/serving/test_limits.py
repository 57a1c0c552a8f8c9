import pytest

from gcap_tf import config as configs
from gcap_tf import errors
from serving import limits


def test_deadlines_get_a_default_and_a_limit():
  bounds = limits.Limits(default_deadline=5, max_deadline=60)
  assert bounds.deadline(None) == 5
  assert bounds.deadline(2.5) == 2.5
  assert bounds.deadline(9e18) == 60, "gRPC reports centuries for no deadline"


@pytest.mark.parametrize("name", ["batch", "in_flight", "default_deadline"])
def test_limits_are_positive(name):
  with pytest.raises(errors.UserError, match=f"limits.{name} is 0"):
    configs.check(limits.Limits(**{name: 0}), "limits")
