# bazel: size = "large"
import pytest

from benchmarks import serving_faults


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  return serving_faults.tiny_model(tmp_path_factory.mktemp("models"))


def test_malformed_requests_end_in_their_right_codes(base):
  found = serving_faults.fuzz(base, 150_000)
  assert found["held"], found
  assert found["bytes"] >= 300_000
  assert {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "400", "404", "412"} <= set(
    found["codes"]
  )


def test_random_bytes_on_either_port_harm_nobody(base):
  found = serving_faults.junk(base, 20_000)
  assert found["held"], found


def test_new_versions_under_load_fail_no_request(base):
  found = serving_faults.swaps(base, 100)
  assert found["held"], found
  assert found["swaps"] >= 1
  assert found["requests"] >= 100


def test_overload_refuses_and_answers(base):
  found = serving_faults.overload(base, 1.0)
  assert found["held"], found
  assert found["codes"]["OK"] > 0
  assert found["codes"]["UNAVAILABLE"] > 0


def test_tally_keeps_what_went_wrong():
  tally = serving_faults._Tally()
  tally.add("unknown model", "OK", {"NOT_FOUND"}, 7)
  tally.add("unknown model", "NOT_FOUND", {"NOT_FOUND"}, 7)
  found = tally.figures()
  assert (found["requests"], found["bytes"], found["failed"]) == (2, 14, 1)
  assert found["first_wrong"] == ["unknown model: OK, expected ['NOT_FOUND']"]
