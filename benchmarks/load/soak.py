"""Mixed traffic for a while: captions of regions, photographs, metadata, refusals, both protocols.

Memory is sampled while it runs; its slope comes from the second half, when caches are full.
"""

import http.client
import json
import pathlib
import random
import tempfile
import threading
import time

import grpc
import numpy as np

from benchmarks.load import bursts, malformed, picture_model, picture_requests, probes
from benchmarks.reliability import damaged_files
from serving import embedded, versions

_WORKERS = 4
_SAMPLES = 120
_MOST_SLOPE = 1.0  # megabytes an hour
_HOUR = 3600.0
_JUDGED = 1800.0  # seconds from which on a slope means something


def soak(base: pathlib.Path, seconds: float, seed: int = 0) -> dict:
  """Sends mixed requests for `seconds`; every one must get its code."""
  tally, done, samples = probes.Tally(), threading.Event(), []
  with tempfile.TemporaryDirectory() as name:
    photographs = picture_model.save(pathlib.Path(name))
    pictures = damaged_files.photographs(8, seed)
    models = (
      versions.ModelConfig("captioner", base),
      versions.ModelConfig(picture_model.NAME, photographs),
    )
    with embedded.Server(embedded.ServerConfig(models=models)) as server:

      def worker(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        connection = http.client.HTTPConnection(server.rest_address, timeout=60)
        with grpc.insecure_channel(server.address) as channel:
          predict = channel.unary_unary(bursts.METHOD)
          while not done.is_set():
            _one(rng, predict, connection, pictures, tally)
        connection.close()

      traffic = threading.Thread(target=probes.run_threads, args=(worker, _WORKERS))
      began = time.monotonic()
      traffic.start()
      while time.monotonic() < began + seconds and traffic.is_alive():
        time.sleep(seconds / _SAMPLES)
        samples.append((time.monotonic() - began, probes.resident_bytes() / 2**20))
      done.set()
      traffic.join()
      alive = probes.answers(server)
  slope = slope_per_hour(samples)
  return {
    "held": alive and not tally.wrong and (seconds < _JUDGED or slope < _MOST_SLOPE),
    "seconds": round(samples[-1][0], 1),
    "megabytes": [round(samples[0][1], 1), round(samples[-1][1], 1)],
    "megabytes_an_hour": round(slope, 2),
    **tally.figures(),
  }


def slope_per_hour(samples: list[tuple[float, float]]) -> float:
  """Megabytes an hour over the second half of (seconds, megabytes)."""
  times, sizes = np.array(samples[len(samples) // 2 :]).T
  return float(np.polyfit(times, sizes, 1)[0] * _HOUR) if len(times) > 1 else 0.0


def _one(rng: random.Random, predict, connection, pictures, tally: probes.Tally) -> None:
  kind = rng.randrange(6)
  if kind == 0:
    raw = malformed.good_request(rng.randrange(100)).SerializeToString()
    tally.add("regions", probes.code(predict, raw), {"OK"}, len(raw))
  elif kind == 1:
    data = rng.choice(pictures)
    tally.add("photograph", picture_requests.ask(predict, data)[0], {"OK"}, len(data))
  elif kind == 2:
    data = rng.choice(pictures)
    tally.add("REST photograph", picture_requests.post(connection, data)[0], {200}, len(data))
  elif kind == 3:
    body = json.dumps(malformed.rest_body()).encode()
    tally.add(
      "REST regions", malformed.post(connection, malformed.REST_PATH, body), {200}, len(body)
    )
  elif kind == 4:
    connection.request("GET", rng.choice(["/healthz", "/v1/models/captioner/metadata"]))
    answer = connection.getresponse()
    answer.read()
    tally.add("metadata", answer.status, {200}, 0)
  else:
    name, raw, right = malformed.known(rng)
    tally.add(name, probes.code(predict, raw), {right}, len(raw))
