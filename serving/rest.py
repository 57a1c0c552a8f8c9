"""The REST server: the paths of TensorFlow Serving, the metrics, and the page.

GET   /v1/models/NAME[/versions/N|/labels/L]             state of versions
GET   /v1/models/NAME[/versions/N|/labels/L]/metadata    signatures
POST  /v1/models/NAME[/versions/N|/labels/L]:predict     an answer
GET   /monitoring/prometheus/metrics                     metrics
GET   /healthz                                           200 if every model is available
GET   /  and /page/..., /samples/...                     the page and its samples
GET   /page/models.json, /page/labels/NAME/N.json        what the page asks about models
"""

import contextlib
import http
import http.server
import json
import re
import socket
import ssl
import threading
from typing import Any

import grpc
from absl import logging
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, model_pb2

from serving import json_tensors, metadata, page_data, predict, rpc, static, status
from serving import metrics as metrics_lib

_MODEL_PATH = re.compile(
  r"/v1/models/(?P<name>[^/:]+)"
  r"(?:/versions/(?P<version>\d{1,18})|/labels/(?P<label>[^/:]+))?"
  r"(?P<verb>|/metadata|:predict|:classify|:regress)"
)
_IDLE_SECONDS = 60.0  # a connection without requests is closed after this time
_DISCARD_SECONDS, _DISCARD_READS = 1.0, 64
_TLS_CLOSE_SECONDS = 1.0  # for the client to confirm that it closes TLS
_CLASSIFY_MESSAGE = "captioners and matchers support :predict only"


class RestServer(http.server.ThreadingHTTPServer):
  """An HTTP/1.1 server with one thread per connection and a limit on connections."""

  daemon_threads = True
  block_on_close = False
  request_queue_size = 128

  def __init__(
    self,
    address: tuple[str, int],
    predictor: predict.Predictor,
    files: static.StaticFiles,
    token: str = "",
    tls: ssl.SSLContext | None = None,
  ):
    self.predictor, self.files, self.token, self.tls = predictor, files, token, tls
    self._connections = threading.BoundedSemaphore(predictor.limits.connections)
    self._busy = 0
    self._idle = threading.Condition()
    self.draining = self._drained = False
    if ":" in address[0]:
      self.address_family = socket.AF_INET6
    super().__init__(address, Handler)

  @property
  def port(self) -> int:
    return self.server_address[1]

  def process_request(self, request: socket.socket, client_address: Any) -> None:
    if not self._connections.acquire(blocking=False):
      self.shutdown_request(request)
      return
    request.settimeout(_IDLE_SECONDS)
    super().process_request(request, client_address)

  def process_request_thread(self, request: socket.socket, client_address: Any) -> None:
    try:
      if self.tls is not None:  # in this thread, so that a slow handshake does not block others
        request = self.tls.wrap_socket(request, server_side=True)
      super().process_request_thread(request, client_address)
    except OSError:
      self.shutdown_request(request)
    finally:
      self._connections.release()

  def shutdown_request(self, request: socket.socket) -> None:
    """Ends a connection; closes TLS properly, so that no answer looks truncated."""
    if isinstance(request, ssl.SSLSocket):
      with contextlib.suppress(OSError, ValueError):  # the client may be gone already
        request.settimeout(_TLS_CLOSE_SECONDS)
        request.unwrap()
    super().shutdown_request(request)

  def handle_error(self, request: socket.socket, client_address: Any) -> None:
    logging.log_every_n(logging.INFO, "A REST connection broke off", 100)

  def drain(self, seconds: float) -> None:
    """Accepts no new connection and waits until the current requests are answered."""
    self.draining = True
    self.shutdown()
    with self._idle:
      self._idle.wait_for(lambda: self._busy == 0, timeout=seconds)
      self._drained = True
    self.server_close()

  def begin(self) -> bool:
    """Counts a request that begins; returns False if the server has stopped."""
    with self._idle:
      self._busy += 1
      return not self._drained

  def end(self) -> None:
    """Counts a request that ended."""
    with self._idle:
      self._busy -= 1
      self._idle.notify_all()


class Handler(http.server.BaseHTTPRequestHandler):
  """Answers the requests of one connection."""

  server: RestServer
  protocol_version = "HTTP/1.1"
  server_version = "gcap_tf"
  sys_version = ""
  _body_unread = False

  def do_GET(self) -> None:
    self._answer("GET")

  def do_HEAD(self) -> None:
    self._answer("GET")

  def do_POST(self) -> None:
    self._answer("POST")

  def log_message(self, *arguments: Any) -> None:
    """Silent: the metrics count requests."""

  def _answer(self, method: str) -> None:
    is_open = self.server.begin()
    try:
      try:
        if not is_open:  # a request on a connection from before the stop
          raise status.unavailable("the server is stopping")
        body = self._body() if method == "POST" else b""
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
    """Reads the body; it must be uncompressed, of known length, and within the limit."""
    limit, closing = self.server.predictor.limits.message_bytes, self.close_connection
    length = self.headers.get("Content-Length", "")
    self._body_unread = self.close_connection = True
    if self.headers.get("Transfer-Encoding") or not (length.isascii() and length.isdigit()):
      raise status.invalid("send the body with a Content-Length")
    if self.headers.get("Content-Encoding", "identity") != "identity":
      raise status.invalid("send the body without Content-Encoding")
    if int(length) > limit:
      raise status.ServingError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, f"the body is larger than {limit} bytes"
      )
    self._body_unread, self.close_connection = False, closing
    body = self.rfile.read(int(length))
    if len(body) != int(length):
      raise ConnectionError("the body is incomplete")
    return body

  def _discard_body(self) -> None:
    """Reads on for a moment: closing with unread bytes would discard the answer."""
    self.wfile.flush()
    self.connection.shutdown(socket.SHUT_WR)
    self.connection.settimeout(_DISCARD_SECONDS)
    for _ in range(_DISCARD_READS):
      if not self.connection.recv(1 << 16):
        return

  def _route(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
    if method == "GET" and path == metrics_lib.PATH:
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
    if self.server.token:
      rpc.check_token(self.headers.get("Authorization", ""), self.server.token)

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
      seconds=None,
      entrypoint="REST",
    )
    return json_tensors.answer(answer.outputs, rows="instances" in request)

  def _send(self, code: int, kind: str, content: bytes) -> None:
    self.send_response(code)
    self.send_header("Content-Type", kind)
    self.send_header("Content-Length", str(len(content)))
    self.send_header("X-Content-Type-Options", "nosniff")
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
