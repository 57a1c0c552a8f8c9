"""The REST server: the paths of TensorFlow Serving, the metrics, and the page.

GET   /v1/models/NAME[/versions/N|/labels/L]             state of versions
GET   /v1/models/NAME[/versions/N|/labels/L]/metadata    signatures
POST  /v1/models/NAME[/versions/N|/labels/L]:predict     an answer
GET   /monitoring/prometheus/metrics                     metrics
GET   /healthz                                           200 if every model is available
GET   /  and /page/..., /samples/...                     the page and its samples
GET   /page/models.json, /page/labels/NAME/N.json        what the page asks about models
OPTIONS                                                  what is allowed, also for other origins

Other methods get 405. `serving/front/rest_server.py` accepts the connections.
"""

import contextlib
import dataclasses
import http
import http.server
import json
import re
import socket
import ssl
from typing import Any

import grpc
from absl import logging
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, model_pb2

from serving import (
  json_tensors,
  metadata,
  page_data,
  predict,
  rpc,
  static,
  status,
)
from serving import metrics as metrics_lib
from serving.front import bodies, connections

_MODEL_PATH = re.compile(
  r"/v1/models/(?P<name>[^/:]+)"
  r"(?:/versions/(?P<version>\d{1,18})|/labels/(?P<label>[^/:]+))?"
  r"(?P<verb>|/metadata|:predict|:classify|:regress)"
)
_DISCARD_SECONDS, _DISCARD_READS = 1.0, 64
_CLASSIFY_MESSAGE = "captioners and matchers support :predict only"
_ALLOWED = "GET, HEAD, POST, OPTIONS"
_PREFLIGHT = {
  "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Encoding, Content-Type",
  "Access-Control-Max-Age": "600",
}


@dataclasses.dataclass(frozen=True)
class RestOptions:
  """How the REST server answers.

  Attributes:
    token: clients must send it; "" accepts all clients.
    tls: of the port, or None for plain text.
    origins: pages of these origins may read answers; "*" is every page.
    metrics_path: path of the metrics; "" serves none.
    seconds: for a request; None takes the default deadline.
  """

  token: str = ""
  tls: ssl.SSLContext | None = None
  origins: tuple[str, ...] = ()
  metrics_path: str = metrics_lib.PATH
  seconds: float | None = None


class Handler(http.server.BaseHTTPRequestHandler):
  """Answers the requests of one connection."""

  server: Any  # `serving/front/rest_server.py` imports this module.
  protocol_version = "HTTP/1.1"
  default_request_version = "HTTP/1.1"  # Else a request without a known version gets no status.
  server_version = "gcap_tf"
  sys_version = ""
  disable_nagle_algorithm = True  # Else the body waits 40 ms until the client confirms the head.
  _body_unread = False

  def setup(self) -> None:
    super().setup()
    self.rfile = bodies.HeadReader(self.rfile)

  def handle_one_request(self) -> None:
    self.rfile.begin()
    self.server.open_connections.set(self.request, connections.WAITING)
    super().handle_one_request()

  def do_GET(self) -> None:
    self._answer("GET")

  def do_HEAD(self) -> None:
    self._answer("GET")

  def do_POST(self) -> None:
    self._answer("POST")

  def do_OPTIONS(self) -> None:
    self._answer("OPTIONS")

  def _refuse_method(self) -> None:
    self._answer(self.command)

  do_PUT = do_DELETE = do_PATCH = do_TRACE = do_CONNECT = _refuse_method

  def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
    """Refuses what is not an HTTP request that can be read, and ends the connection."""
    del explain
    self.close_connection = True
    self._send(code, "application/json", _error(message or http.HTTPStatus(code).phrase))
    with contextlib.suppress(OSError):
      self._discard_body()

  def log_message(self, *arguments: Any) -> None:
    """Silent: the metrics count requests."""

  def _answer(self, method: str) -> None:
    is_open = self.server.begin()
    try:
      try:
        if not is_open:  # a request on a connection from before the stop
          raise status.unavailable("the server is stopping")
        body = self._body() if method == "POST" else self._no_body()
        self.server.open_connections.set(self.request, connections.ANSWERING)
        code, kind, content = self._route(method, self.path.partition("?")[0], body)
      except status.ServingError as error:
        code, kind, content = error.http_status, "application/json", _error(error.message)
      except OSError:
        raise
      except Exception as error:
        logging.exception("A REST request failed")
        code = http.HTTPStatus.INTERNAL_SERVER_ERROR
        kind, content = "application/json", _error(f"{type(error).__name__} in the server")
      self._send(code, kind, content)
      if self._body_unread:
        self._discard_body()
    except (OSError, ValueError):  # the client is gone
      self.close_connection = True
    finally:
      self.server.end()

  def _body(self) -> bytes:
    """Reads the body; it must be of known length, and within the limit."""
    limit, closing = self.server.predictor.limits.message_bytes, self.close_connection
    self._body_unread = self.close_connection = True
    length = bodies.length(self.headers, limit)
    self._body_unread, self.close_connection = False, closing
    self.server.open_connections.set(self.request, connections.RECEIVING)
    body = self.rfile.read(length)
    if len(body) != length:
      raise ConnectionError("the body is incomplete")
    if bodies.encoding(self.headers) == "gzip":
      return bodies.unpack(body, limit)
    return body

  def _no_body(self) -> bytes:
    """Of a method without one; a body that comes all the same must not be read as a request."""
    if self.headers.get("Transfer-Encoding") or self.headers.get("Content-Length", "0") != "0":
      self._body_unread = self.close_connection = True
    return b""

  def _discard_body(self) -> None:
    """Reads on for a moment: closing with unread bytes would discard the answer."""
    self.wfile.flush()
    self.connection.shutdown(socket.SHUT_WR)
    self.connection.settimeout(_DISCARD_SECONDS)
    for _ in range(_DISCARD_READS):
      if not self.connection.recv(1 << 16):
        return

  def _route(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
    if method == "OPTIONS":
      return http.HTTPStatus.NO_CONTENT, "", b""
    if method not in ("GET", "POST"):
      text = _error(f"the method {method} is not allowed; allowed: {_ALLOWED}")
      return http.HTTPStatus.METHOD_NOT_ALLOWED, "application/json", text
    if method == "GET" and path == self.server.options.metrics_path:
      text = self.server.predictor.metrics.text()
      return http.HTTPStatus.OK, "text/plain; version=0.0.4; charset=utf-8", text.encode()
    if method == "GET" and path == "/healthz":
      ready = self.server.predictor.models.ready() and not self.server.draining
      code = http.HTTPStatus.OK if ready else http.HTTPStatus.SERVICE_UNAVAILABLE
      return code, "text/plain; charset=utf-8", b"ok\n" if ready else b"not ready\n"
    if method == "GET" and path == "/page/models.json":
      listed = {"models": self.server.predictor.models.available()}
      return http.HTTPStatus.OK, "application/json", _dump(listed)
    if method == "GET" and path.startswith(page_data.LABELS_PATH):
      self._check_token()
      return http.HTTPStatus.OK, "application/json", _dump(self._known_labels(path))
    if path.startswith("/v1/"):
      self._check_token()
      return http.HTTPStatus.OK, "application/json", _dump(self._model(method, path, body))
    if method == "GET":
      kind, content = self.server.files.read(path)
      return http.HTTPStatus.OK, kind, content
    raise status.invalid(f"Malformed request: {method} {path}")

  def _check_token(self) -> None:
    if self.server.options.token:
      rpc.check_token(self.headers.get("Authorization", ""), self.server.options.token)

  def _known_labels(self, path: str) -> dict[str, Any]:
    with self.server.predictor.models.use(page_data.labels_spec(path)) as version:
      return {"names": page_data.known_labels(version.servable.folder)}

  def _model(self, method: str, path: str, body: bytes) -> dict[str, Any]:
    match = _MODEL_PATH.fullmatch(path)
    if match is None or (match["verb"].startswith(":") != (method == "POST")):
      raise status.invalid(f"Malformed request: {method} {path}")
    spec = model_pb2.ModelSpec(name=match["name"])
    if match["version"]:
      spec.version.value = int(match["version"])
    elif match["label"]:
      spec.version_label = match["label"]
    if match["verb"] == "":
      return _json(metadata.status_answer(self.server.predictor.models, spec))
    if match["verb"] == "/metadata":
      return _metadata(self.server.predictor, spec)
    if match["verb"] == ":predict":
      with self.server.predictor.slot():
        return self._predict(spec, body)
    raise status.ServingError(grpc.StatusCode.UNIMPLEMENTED, _CLASSIFY_MESSAGE)

  def _predict(self, spec: model_pb2.ModelSpec, body: bytes) -> dict[str, Any]:
    predictor = self.server.predictor
    request = json_tensors.parse(body, predictor.limits)
    name = request.get("signature_name", "")
    if not isinstance(name, str):
      raise status.invalid('"signature_name" must be a string')
    spec.signature_name = name
    answer = predictor.predict(
      spec,
      lambda signature: json_tensors.arrays_of(request, signature, predictor.limits),
      seconds=self.server.options.seconds,
      entrypoint="REST",
    )
    return json_tensors.answer(answer.outputs, rows="instances" in request)

  def _send(self, code: int, kind: str, content: bytes) -> None:
    self.send_response(code)
    if kind:
      self.send_header("Content-Type", kind)
      self.send_header("Content-Length", str(len(content)))
    self.send_header("X-Content-Type-Options", "nosniff")
    if self.command == "OPTIONS" or code == http.HTTPStatus.METHOD_NOT_ALLOWED:
      self.send_header("Allow", _ALLOWED)
    for name, value in self._cross_origin().items():
      self.send_header(name, value)
    if kind.startswith("text/html"):
      for name, value in static.PAGE_HEADERS.items():
        self.send_header(name, value)
    if code == http.HTTPStatus.UNAUTHORIZED:
      self.send_header("WWW-Authenticate", "Bearer")
    if self.server.draining or self.close_connection:
      self.send_header("Connection", "close")
      self.close_connection = True
    self.end_headers()
    if self.command != "HEAD":
      self.wfile.write(content)

  def _cross_origin(self) -> dict[str, str]:
    """Headers that let a page of another origin read the answer, if it may."""
    origins = self.server.options.origins
    sent = self.headers.get("Origin", "") if getattr(self, "headers", None) else ""
    if not origins or not sent or not ("*" in origins or sent in origins):
      return {}
    allowed = {"Access-Control-Allow-Origin": "*" if "*" in origins else sent, "Vary": "Origin"}
    return allowed | (_PREFLIGHT if self.command == "OPTIONS" else {})


def _metadata(predictor: predict.Predictor, spec: model_pb2.ModelSpec) -> dict[str, Any]:
  request = get_model_metadata_pb2.GetModelMetadataRequest(
    model_spec=spec, metadata_field=[metadata.SIGNATURE_FIELD]
  )
  response = metadata.answer(predictor.models, request)
  signatures = get_model_metadata_pb2.SignatureDefMap()
  response.metadata[metadata.SIGNATURE_FIELD].Unpack(signatures)
  return {
    "model_spec": {
      "name": response.model_spec.name,
      "signature_name": "",
      "version": str(response.model_spec.version.value),
    },
    "metadata": {metadata.SIGNATURE_FIELD: _json(signatures)},
  }


def _json(message: Any) -> dict[str, Any]:
  value = json_format.MessageToDict(
    message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
  )
  for entry in value.get("model_version_status", ()):
    code = entry.setdefault("status", {}).get("error_code") or "OK"
    entry["status"] = {
      "error_code": code,
      "error_message": entry["status"].get("error_message", ""),
    }
  return value


def _dump(value: Any) -> bytes:
  return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _error(message: str) -> bytes:
  return _dump({"error": message})
