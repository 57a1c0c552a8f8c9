# bazel: size = "large"
import pytest

from benchmarks import serving_faults


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  return serving_faults.tiny_model(tmp_path_factory.mktemp("models"))


def test_damaged_requests_are_all_answered_or_refused(base):
  found = serving_faults.fuzz(base, 1200)
  assert found["held"], found
  assert sum(found["codes"].values()) == 1200
  assert found["codes"]["INVALID_ARGUMENT"] > 600


def test_random_bytes_on_either_port_harm_nobody(base):
  found = serving_faults.junk(base, 60)
  assert found["held"], found


def test_new_versions_under_load_fail_no_request(base):
  found = serving_faults.swaps(base, 3)
  assert found["held"], found


def test_overload_refuses_and_answers(base):
  found = serving_faults.overload(base, 1.0)
  assert found["held"], found
  assert found["codes"]["OK"] > 0
  assert found["codes"]["UNAVAILABLE"] > 0
