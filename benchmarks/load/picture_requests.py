"""Damaged pictures over gRPC and REST: bombs, cut files, other kinds, wrong types.

The server has the picture front end of captioners of photographs. A file that cannot be decoded
gets an answer whose `error` says why; a request that holds no picture file gets its code.
"""

import base64
import http.client
import json
import pathlib
import random
import tempfile
from typing import Any

import grpc
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from benchmarks.load import bursts, picture_model, probes
from benchmarks.reliability import damage, damaged_files
from export import photograph_module
from serving import limits as limits_lib

_FILES = 240  # damaged in the first place; each request damages one of them once more or not
_NEVER_DECODED = {"bomb", "no_picture"}
_PATH = f"/v1/models/{picture_model.NAME}:predict"
_LIMITS = limits_lib.Limits(picture_bytes=1 << 20)


def fuzz(count: int, seed: int = 0) -> dict:
  """Sends `count` pictures, half of them over each protocol."""
  tally = probes.Tally()
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "pictures").mkdir()
    kinds = damaged_files.damaged(folder / "pictures", _FILES, seed)
    files = [(kind, (folder / "pictures" / name).read_bytes()) for name, kind in kinds.items()]
    with probes.server_of(picture_model.save(folder), picture_model.NAME, limits=_LIMITS) as server:

      def over_grpc(number: int) -> None:
        rng = random.Random(f"{seed} grpc {number}")
        with grpc.insecure_channel(server.address) as channel:
          predict = channel.unary_unary(bursts.METHOD)
          for _ in range(max(1, count // 4)):
            kind, value, right = _choose(rng, files)
            found = ask(predict, value)
            tally.add(kind, _judged(kind, found), {right}, len(str(value)))

      def over_rest(number: int) -> None:
        rng = random.Random(f"{seed} rest {number}")
        connection = http.client.HTTPConnection(server.rest_address, timeout=60)
        for _ in range(max(1, count // 4)):
          kind, value, right = _choose(rng, files)
          status, found = post(connection, value)
          code = {200: "OK", 400: "INVALID_ARGUMENT"}.get(status, f"HTTP {status}")
          code = _judged(kind, (code, found))
          tally.add(f"REST {kind}", code, {right}, len(str(value)))
        connection.close()

      probes.run_threads(over_grpc, 2)
      probes.run_threads(over_rest, 2)
      good = next(data for kind, data in files if kind == "flip")
      alive = ask(grpc.insecure_channel(server.address).unary_unary(bursts.METHOD), good)[0] == "OK"
  return {"held": alive and not tally.wrong, "alive": alive, **tally.figures()}


def _choose(rng: random.Random, files) -> tuple[str, Any, str]:
  """A kind of damage, what to send as a picture, and the code that is right."""
  if rng.random() < 0.1:
    kind, value = rng.choice(
      [
        ("number", 7),
        ("numbers", [1.5, 2.5]),
        ("too large", rng.randbytes(_LIMITS.picture_bytes + 1)),
        ("two dimensions", [[b"x"]]),
      ]
    )
    return kind, value, "INVALID_ARGUMENT"
  kind, data = rng.choice(files)
  if rng.random() < 0.5 and kind not in _NEVER_DECODED:
    data = damage.damaged(data, rng)
  if rng.random() < 0.02:
    kind, data = "no_picture", b""
  return kind, data, "OK"


def _judged(kind: str, found: tuple[str, str]) -> str:
  """The code of an answer; a bomb that was decoded is no right one."""
  code, problem = found
  return "decoded" if code == "OK" and kind in _NEVER_DECODED and not problem else code


def ask(predict, value: Any) -> tuple[str, str]:
  """The code of a gRPC request, and the `error` of its answer."""
  request = predict_pb2.PredictRequest()
  request.model_spec.name = picture_model.NAME
  values = value if isinstance(value, list) else [value]
  request.inputs[photograph_module.IMAGE_BYTES].CopyFrom(tf.make_tensor_proto(values))
  try:
    raw = predict(request.SerializeToString(), timeout=60)
  except grpc.RpcError as error:
    return error.code().name, ""
  answer = predict_pb2.PredictResponse.FromString(raw)
  return "OK", tf.make_ndarray(answer.outputs["error"])[0].decode()


def post(connection: http.client.HTTPConnection, value: Any) -> tuple[int, str]:
  """The status of a REST request, and the `error` of its answer."""
  values = value if isinstance(value, list) else [value]
  body = json.dumps({"inputs": {photograph_module.IMAGE_BYTES: _json(values)}})
  connection.request("POST", _PATH, body.encode())
  answer = connection.getresponse()
  content = json.loads(answer.read())
  if answer.status != 200:
    return answer.status, ""
  return 200, content["outputs"]["error"][0]


def _json(value: Any) -> Any:
  if isinstance(value, list):
    return [_json(each) for each in value]
  return {"b64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
