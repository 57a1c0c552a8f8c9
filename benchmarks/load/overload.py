"""Ten times more requests than fit: accepted ones keep their time, the others are refused at once.

What must hold, with the load that just fits as the measure: p99 of accepted requests at most 2
times, refusals within 10 ms, goodput at least 95 %, flat memory, and quick answers within a second
of the end. Times are those of the machine it runs on: on a busy one, `held` judges the codes and
the recovery only, and the figures are printed as they are. Where answers are slow even at capacity,
the recovery may take a few of them.
"""

import pathlib
import time

import grpc

from benchmarks.load import bursts, malformed, probes
from serving import limits as limits_lib

PLACES = 8
TIMES = 10
_LONGEST_RECOVERY = 1.0
_SLOW_ANSWERS = 5  # slowest answers at capacity that the recovery may take
_CODES = {"OK", "UNAVAILABLE", "RESOURCE_EXHAUSTED"}


def overload(base: pathlib.Path, seconds: float, times: int = TIMES) -> dict:
  """Measures a server at its capacity, then with `times` as many callers.

  Args:
    base: of the tiny model.
    seconds: of each half.
    times: callers for each place.
  """
  few = limits_lib.Limits(in_flight=PLACES)
  raw = malformed.good_request().SerializeToString()
  with probes.server_of(base, limits=few) as server:
    calm = bursts.run(server.address, raw, PLACES, seconds)
    before = probes.megabytes()
    full = bursts.run(server.address, raw, PLACES * times, seconds)
    recovered = _recovery(server.address, raw)
    after = probes.megabytes()
    alive = probes.answers(server)
  longest = max(_LONGEST_RECOVERY, _SLOW_ANSWERS * calm.percentile(99) / 1000)
  return {
    "held": alive and set(full.codes) <= _CODES and recovered <= longest,
    "requests": sum(full.codes.values()),
    "answers_per_second_at_capacity": round(calm.rate, 1),
    "answers_per_second_overloaded": round(full.rate, 1),
    "goodput_share": round(full.rate / calm.rate, 3),
    "p99_ms_at_capacity": round(calm.percentile(99), 1),
    "p99_ms_overloaded": round(full.percentile(99), 1),
    "p99_times": round(full.percentile(99) / calm.percentile(99), 2),
    "p99_ms_of_refusals": round(full.percentile(99, refused=True), 1),
    "megabytes": [before, after],
    "seconds_until_well": round(recovered, 3),
    "codes": full.codes,
  }


def _recovery(address: str, raw: bytes) -> float:
  """Seconds until the first of five answers in a row."""
  began, streak, first = time.monotonic(), 0, 0.0
  with grpc.insecure_channel(address) as channel:
    predict = channel.unary_unary(bursts.METHOD)
    while streak < 5 and time.monotonic() < began + 30:
      first = first if streak else time.monotonic()
      streak = streak + 1 if probes.code(predict, raw) == "OK" else 0
  return first - began if streak else 30.0
