import json

import pytest

from benchmarks import serving_faults
from benchmarks.load import (
  cut_clients,
  heads,
  overload,
  picture_requests,
  probes,
  soak,
  swap_models,
  swaps,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  return probes.tiny_model(tmp_path_factory.mktemp("models"))


def test_malformed_requests_end_in_their_right_codes(base):
  found = serving_faults.fuzz(base, 150_000)
  assert found["held"], json.dumps(found)
  assert found["bytes"] >= 300_000
  assert {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "400", "404", "412"} <= set(
    found["codes"]
  )


def test_random_bytes_on_either_port_harm_nobody(base):
  found = serving_faults.junk(base, 20_000)
  assert found["held"], json.dumps(found)


def test_damaged_pictures_get_their_codes():
  found = picture_requests.fuzz(120, 3)
  assert found["held"], json.dumps(found)
  assert found["requests"] == 120 and {"OK", "INVALID_ARGUMENT"} == set(found["codes"])


def test_malformed_heads_get_their_codes_while_slow_senders_hold_connections(base):
  found = heads.send(base, 60)
  assert found["held"], json.dumps(found)
  assert {"400", "414", "431"} & set(found["codes"])


def test_clients_that_vanish_leave_nothing(base):
  found = cut_clients.cut(base, 60)
  assert found["held"], json.dumps(found)
  assert sum(found["ways"].values()) == found["cut"] >= 60


@pytest.mark.parametrize("model", swap_models.MODELS)
def test_new_versions_under_load_fail_no_request(model):
  found = swaps.swap(6, workers=2, model=model)
  assert found["held"], json.dumps(found)
  assert found["bad_versions"] == 1 and found["requests"] > 100


def test_overload_refuses_and_answers(base):
  found = overload.overload(base, 1.0)
  assert found["held"], json.dumps(found)
  assert found["codes"]["OK"] > 0
  assert found["codes"]["UNAVAILABLE"] > 0


def test_mixed_traffic_gets_its_codes(base):
  found = soak.soak(base, 3.0)
  assert found["held"], json.dumps(found)
  assert {"OK", "200", "NOT_FOUND"} & set(found["codes"])


def test_the_slope_of_memory_comes_from_the_second_half():
  samples = [(0.0, 50.0), (60.0, 99.0), (120.0, 100.0), (180.0, 101.0)]
  assert soak.slope_per_hour(samples) == pytest.approx(60.0)


def test_every_round_of_swaps_adds_its_numbers():
  found = {"held": False, "swaps": 6, "bad_versions": 1, "requests": 90, "failed": 2, "mixed": 0}
  found |= {"rounds": 1, "slow_rounds": 1, "p99_times": 1.7}
  assert serving_faults.numbers("swaps", found) == {
    **{"FAILED": 6, "bad_versions": 1, "requests": 90, "failed": 2, "mixed": 0},
    **{"rounds": 1, "slow_rounds": 1},
  }
  assert serving_faults.numbers("cut", {"held": True, "cut": 60}) == {"held": 60}


def test_tally_keeps_what_went_wrong():
  tally = probes.Tally()
  tally.add("unknown model", "OK", {"NOT_FOUND"}, 7)
  tally.add("unknown model", "NOT_FOUND", {"NOT_FOUND"}, 7)
  found = tally.figures()
  assert (found["requests"], found["bytes"], found["failed"]) == (2, 14, 1)
  assert found["first_wrong"] == ["unknown model: OK, expected ['NOT_FOUND']"]
