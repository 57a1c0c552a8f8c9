"""Faults that a server must survive, with the counts of docs/reliability.md.

    python -m benchmarks.serving_faults                      # every case, a few minutes
    python -m benchmarks.serving_faults --cases=cut --cuts=1000 --rounds=10 --counts=FILE

fuzz      malformed gRPC and REST requests: each gets its expected code
pictures  damaged pictures over gRPC and REST: bombs, cut files, other kinds, wrong types
heads     huge and malformed HTTP heads, deep JSON, slow senders: each gets its expected code
junk      random bytes, partial requests and cut connections on both ports
cut       clients that vanish mid-request: no descriptor, thread or memory is left
swaps     new versions under load, bad ones among them: no failed, mixed or late answer
overload  ten times more requests than fit: accepted ones keep their time
memory    steady load: memory does not grow
soak      mixed traffic with photographs: no error, and the slope of memory
kills     kill -9 at random moments of an export: no incomplete version appears

Each case runs a real server in this process and prints one line; the exit code is 0 if
every case held. With --rounds, cases repeat with other seeds, and --counts is written after each.
The tests run the cases with small counts (tests/benchmarks/test_serving_faults.py).
"""

import http.client
import itertools
import json
import pathlib
import random
import socket
import tempfile

import grpc
from absl import flags

from benchmarks.load import (
  bursts,
  cut_clients,
  export_kills,
  heads,
  malformed,
  overload,
  picture_requests,
  probes,
  soak,
  swap_models,
  swaps,
)
from benchmarks.reliability import counts as counts_lib
from gcap_tf import errors


def fuzz(base: pathlib.Path, total_bytes: int, workers: int = 4, seed: int = 0) -> dict:
  """Sends `total_bytes` of malformed requests over gRPC and as many over REST."""
  tally = probes.Tally()
  with probes.server_of(base) as server:

    def grpc_worker(number: int) -> None:
      rng, sent = random.Random(seed * 1000 + number), 0
      with grpc.insecure_channel(server.address) as channel:
        predict = channel.unary_unary(bursts.METHOD)
        while sent < total_bytes / workers:
          if rng.random() < 0.5:
            name, raw, code = malformed.known(rng)
            right = {code}
          else:
            name, raw, right = "wild", malformed.wild(rng), malformed.REFUSALS | {"OK"}
          tally.add(name, probes.code(predict, raw), right, len(raw))
          sent += max(1, len(raw))

    def rest_worker(number: int) -> None:
      rng, sent = random.Random(seed * 1000 + 500 + number), 0
      connection = http.client.HTTPConnection(server.rest_address, timeout=60)
      while sent < total_bytes / workers:
        path = malformed.REST_PATH
        if rng.random() < 0.5:
          name, path, body, code = malformed.rest_known(rng)
          right = {code}
        else:
          name, body = "wild", malformed.rest_wild(rng)
          right = malformed.REST_REFUSALS | {200}
        tally.add(f"REST {name}", malformed.post(connection, path, body), right, len(body))
        sent += max(1, len(body))
      connection.close()

    probes.run_threads(grpc_worker, workers)
    with grpc.insecure_channel(server.address, [("grpc.max_send_message_length", -1)]) as channel:
      huge = bytes(server.config.limits.message_bytes + 1)
      code = probes.code(channel.unary_unary(bursts.METHOD), huge)
      tally.add("larger than a message may be", code, {"RESOURCE_EXHAUSTED"}, 0)
    probes.run_threads(rest_worker, workers)
    alive = probes.answers(server)
  return {"held": alive and not tally.wrong, "alive": alive, **tally.figures()}


def junk(base: pathlib.Path, total_bytes: int, seed: int = 0) -> dict:
  """Sends random bytes and partial requests to both ports and cuts the connections."""
  rng, sent, connections = random.Random(seed), 0, 0
  with probes.server_of(base) as server:
    before = probes.open_files()
    while sent < total_bytes:
      port = (server.port, server.rest_port)[connections % 2]
      with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        start = rng.choice([b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST / HTTP/1.1\r\n"])
        raw = start + rng.randbytes(rng.randrange(600))
        connection.sendall(raw)
      sent, connections = sent + max(1, len(raw)), connections + 1
    alive = probes.answers(server)
    left = probes.files_left(before)
  return {
    "held": alive and left <= 8,
    "alive": alive,
    "bytes": sent,
    "connections": connections,
    "files_left_open": left,
  }


def memory(base: pathlib.Path, requests: int) -> dict:
  """Measures resident memory over `requests`; after the first tenth it may grow by 2 %."""
  raw = malformed.good_request().SerializeToString()
  megabytes, codes, answered = [], set(), 0
  with probes.server_of(base) as server:
    for _ in range(10):
      outcome = bursts.run(server.address, raw, 8, requests=requests / 10)
      megabytes.append(probes.megabytes())
      codes |= set(outcome.codes)
      answered += outcome.codes.get("OK", 0)
  return {
    "held": codes == {"OK"} and megabytes[-1] < 1.02 * megabytes[0],
    "requests": answered,
    "resident_megabytes": megabytes,
  }


CASES = {
  "fuzz": lambda base, f, counts: fuzz(base, f.fuzz_bytes, seed=counts.total("fuzz")),
  "pictures": lambda base, f, counts: picture_requests.fuzz(f.pictures, counts.total("pictures")),
  "heads": lambda base, f, counts: heads.send(base, f.heads, counts.total("heads")),
  "junk": lambda base, f, counts: junk(base, f.fuzz_bytes, seed=counts.total("junk")),
  "cut": lambda base, f, counts: cut_clients.cut(base, f.cuts, counts.total("cut")),
  "swaps": lambda base, f, counts: swaps.swap(
    f.swaps, seed=counts.total("swaps"), model=f.swap_model
  ),
  "overload": lambda base, f, counts: overload.overload(base, f.seconds),
  "memory": lambda base, f, counts: memory(base, f.memory_requests),
  "soak": lambda base, f, counts: soak.soak(base, f.soak_seconds, counts.total("soak")),
  "kills": lambda base, f, counts: export_kills.kills(f.kills, seed=counts.total("kills")),
}
# What adds up over resumed runs: the number that a case is counted by, and others.
_COUNTED = {
  **dict.fromkeys(("fuzz", "pictures", "heads", "memory", "overload"), ("requests",)),
  "junk": ("connections",),
  "cut": ("cut",),
  "soak": ("requests", "seconds"),
  "swaps": ("swaps", "bad_versions", "requests", "failed", "mixed", "rounds", "slow_rounds"),
  "kills": ("killed_while_writing", "broken"),
}


def numbers(name: str, found: dict) -> dict[str, int]:
  """What a round of a case adds to its counts."""
  first, *others = _COUNTED[name]
  counted = {"held" if found["held"] else "FAILED": found[first]}
  return counted | {other: round(found[other]) for other in others}


def main(argv: list[str]) -> int:
  del argv
  for name in flags.FLAGS.cases:
    if name not in CASES:
      raise errors.UserError(f'--cases: unknown case "{name}"; known: {", ".join(CASES)}')
  figures, all_held = {}, True
  with (
    tempfile.TemporaryDirectory() as folder,
    counts_lib.opened(flags.FLAGS.counts) as counts,
  ):
    base = probes.tiny_model(pathlib.Path(folder))
    for _, name in itertools.product(range(flags.FLAGS.rounds), flags.FLAGS.cases):
      found = CASES[name](base, flags.FLAGS, counts)
      counts.add(name, **numbers(name, found))
      all_held &= found["held"]
      figures[name] = found
      verdict = "held" if found["held"] else "FAILED"
      print(f"{verdict}  {name}  {found}  so far: {counts.of(name)}", flush=True)
  print(json.dumps(figures))
  return int(not all_held)


if __name__ == "__main__":
  flags.DEFINE_list("cases", list(CASES), "Cases to run.")
  flags.DEFINE_integer("rounds", 1, "Times that the cases run, each with other seeds.", 1)
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  flags.DEFINE_integer("fuzz_bytes", 1_000_000, "Bytes of fuzz over each protocol, and of junk.", 1)
  flags.DEFINE_integer("pictures", 2000, "Damaged pictures to send.", 1)
  flags.DEFINE_integer("heads", 200, "Malformed heads and slow senders.", 1)
  flags.DEFINE_integer("cuts", 500, "Clients to cut mid-request.", 1)
  flags.DEFINE_integer("swaps", 10, "New versions under load.", 1)
  flags.DEFINE_enum(
    "swap_model", "scaled", list(swap_models.MODELS), "Model of swaps; captioner for latencies."
  )
  flags.DEFINE_integer("memory_requests", 20_000, "Requests of memory.", 10)
  flags.DEFINE_integer("kills", 20, "Exports to kill.", 1)
  flags.DEFINE_float("seconds", 10.0, "Seconds of each half of overload.", 0.1)
  flags.DEFINE_float("soak_seconds", 60.0, "Seconds of soak.", 1.0)
  errors.run(main)
