import base64
import gzip
import http.client
import json
import socket

import numpy as np
import pytest

from serving import limits
from tests.serving import harness, tiny_models


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  small = limits.Limits(message_bytes=1 << 16)
  with harness.serving(folder, limits=small) as server:
    caller = harness.Caller(server)
    yield caller
    caller.close()


PREDICT = "/v1/models/captioner:predict"


def rows_of(inputs):
  count = len(inputs["num_regions"])
  return [{name: array[i].tolist() for name, array in inputs.items()} for i in range(count)]


def test_row_form_answers_one_object_per_picture(caller):
  inputs = tiny_models.request(3, 4)
  code, answer = caller.rest(PREDICT, {"instances": rows_of(inputs)})
  assert code == 200
  wanted = tiny_models.expected(inputs, 1)
  assert len(answer["predictions"]) == 3
  for row, found in enumerate(answer["predictions"]):
    assert found["box_index"] == wanted["box_index"][row].tolist()
    assert found["log_prob"] == pytest.approx(wanted["log_prob"][row], abs=1e-5)
    assert isinstance(found["caption"], str)


def test_column_form_answers_one_list_per_output(caller):
  inputs = tiny_models.request(2, 3)
  body = {"signature_name": "beam", "inputs": {k: v.tolist() for k, v in inputs.items()}}
  code, answer = caller.rest(PREDICT, body)
  assert code == 200
  harness.check_answer(inputs, {k: np.array(v) for k, v in answer["outputs"].items()}, 1)


def test_version_in_the_path_is_honoured(caller):
  body = {"instances": rows_of(tiny_models.request(1, 1))}
  assert caller.rest("/v1/models/captioner/versions/1:predict", body)[0] == 200
  assert caller.rest("/v1/models/captioner/versions/9:predict", body) == (
    404,
    {"error": "Servable not found for request: Specific(captioner, 9)"},
  )
  code, answer = caller.rest("/v1/models/captioner/labels/x:predict", body)
  assert (code, answer) == (400, {"error": "Unrecognized servable version label: x"})


def test_status_and_metadata_have_the_documented_form(caller):
  assert caller.rest("/v1/models/captioner") == (
    200,
    {
      "model_version_status": [
        {
          "version": "1",
          "state": "AVAILABLE",
          "status": {"error_code": "OK", "error_message": ""},
        }
      ]
    },
  )
  code, answer = caller.rest("/v1/models/captioner/metadata")
  assert code == 200
  assert answer["model_spec"] == {"name": "captioner", "signature_name": "", "version": "1"}
  signature = answer["metadata"]["signature_def"]["signature_def"]["greedy"]
  assert signature["inputs"]["boxes"]["dtype"] == "DT_FLOAT"
  assert signature["method_name"] == "tensorflow/serving/predict"


@pytest.mark.parametrize(
  ("path", "body", "code", "message"),
  [
    ("/v1/models/other:predict", {"instances": [1]}, 404, "Servable not found"),
    ("/v1/models/other", None, 404, "Could not find any versions of model other"),
    ("/v1/nonsense", None, 400, "Malformed request: GET /v1/nonsense"),
    (PREDICT, b"{", 400, "JSON Parse error"),
    (PREDICT, b"[]", 400, "must be an object"),
    (PREDICT, b"\xff\xfe{}", 400, "JSON Parse error"),
    (PREDICT, b"[" * 5000, 400, "nests deeper"),
    (PREDICT, {"instances": []}, 400, "at least one row"),
    (PREDICT, {"instances": [{}], "inputs": {}}, 400, "one of"),
    (PREDICT, {}, 400, "one of"),
    (PREDICT, {"instances": [{"boxes": []}]}, 400, "Missing but required"),
    (PREDICT, {"signature_name": 3, "instances": [{}]}, 400, "must be a string"),
    (PREDICT, {"signature_name": "x", "instances": [{}]}, 412, "not found"),
  ],
)
def test_wrong_request_gets_its_code_and_reason(caller, path, body, code, message):
  found, answer = caller.rest(path, body)
  assert found == code
  assert message in answer["error"]


def test_get_of_predict_and_post_of_status_are_malformed(caller):
  assert caller.rest(PREDICT)[0] == 400
  assert caller.rest("/v1/models/captioner", {})[0] == 400


def test_classify_is_not_implemented(caller):
  assert caller.rest("/v1/models/captioner:classify", {})[0] == 501


def test_too_large_a_body_is_refused_unread(caller):
  code, answer = caller.rest(PREDICT, b" " * ((1 << 16) + 1))
  assert code == 429
  assert "larger than 65536 bytes" in answer["error"]


@pytest.mark.parametrize("headers", [{"Transfer-Encoding": "chunked"}, {"Content-Encoding": "br"}])
def test_bodies_of_unknown_size_or_encoding_are_refused(caller, headers):
  assert caller.rest(PREDICT, b"{}", headers)[0] == 400


def test_gzip_bodies_are_read_and_bombs_and_damage_are_refused(caller):
  body = json.dumps({"instances": rows_of(tiny_models.request(2, 3))}).encode()
  headers = {"Content-Encoding": "gzip"}
  assert caller.rest(PREDICT, gzip.compress(body), headers)[1] == caller.rest(PREDICT, body)[1]
  assert caller.rest(PREDICT, gzip.compress(b" " * (1 << 24)), headers)[0] == 429
  for damaged in (b"{}", gzip.compress(body)[:-3], gzip.compress(body) + b"x"):
    code, answer = caller.rest(PREDICT, damaged, headers)
    assert code == 400 and "gzip" in answer["error"]


def exchange(caller, sent: bytes) -> bytes:
  """Everything that the server answers to bytes on one connection."""
  host, port = caller.server.rest_address.split(":")
  with socket.create_connection((host, int(port)), timeout=60) as connection:
    connection.sendall(sent)
    connection.shutdown(socket.SHUT_WR)
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_get_405_as_json(caller, method):
  answer = exchange(caller, f"{method} /v1/models/captioner HTTP/1.1\r\nHost: x\r\n\r\n".encode())
  head, _, body = answer.partition(b"\r\n\r\n")
  assert head.startswith(b"HTTP/1.1 405") and b"Allow: GET, HEAD, POST, OPTIONS" in head
  assert "not allowed" in json.loads(body)["error"]


def test_options_says_what_is_allowed_and_no_page_elsewhere_may_read(caller):
  ask = b"OPTIONS /v1/models/captioner:predict HTTP/1.1\r\nHost: x\r\nOrigin: http://a.example\r\n"
  answer = exchange(caller, ask + b"Access-Control-Request-Method: POST\r\n\r\n")
  assert answer.startswith(b"HTTP/1.1 204") and b"Allow: " in answer
  assert b"Access-Control" not in answer


def test_pages_of_allowed_origins_may_read(tmp_path):
  tiny_models.save(tmp_path, 1)
  with harness.serving(tmp_path, origins=("https://a.example",)) as server:
    caller = harness.Caller(server)
    for origin, allowed in (("https://a.example", True), ("https://b.example", False)):
      ask = f"OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\n\r\n".encode()
      named = f"Access-Control-Allow-Origin: {origin}\r\n".encode()
      answer = exchange(caller, ask)
      assert (named in answer and b"Access-Control-Allow-Headers: " in answer) is allowed
      headers = caller.raw("/v1/models/captioner", headers={"Origin": origin})[1]
      assert ("Access-Control-Allow-Origin" in headers) is allowed
    caller.close()


@pytest.mark.parametrize(
  ("sent", "code"),
  [
    (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n", b"431"),
    (b"GET / HTTP/1.1\r\nX: " + b"y" * 70000 + b"\r\n\r\n", b"431"),
    (b"GET /" + b"y" * 70000 + b" HTTP/1.1\r\n\r\n", b"414"),
    (b"GET / HTTP/9.1\r\n\r\n", b"505"),
    (b"NONSENSE\r\n\r\n", b"400"),
  ],
)
def test_heads_that_are_too_large_or_no_http_are_refused_as_json(caller, sent, code):
  answer = exchange(caller, sent)
  # A request without a version is answered as HTTP/0.9 is: with the body alone.
  assert code in answer[:16] or answer.startswith(b'{"error": '), answer[:80]
  assert b"<html" not in answer.lower()


@pytest.mark.parametrize(
  "head",
  [
    b"POST PATH HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST PATH HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 60\r\n\r\n",
    b"POST PATH HTTP/1.1\r\nContent-Length: +4\r\n\r\n",
    b"POST PATH HTTP/1.1\r\nTransfer-Encoding: identity, chunked\r\n\r\n",
    b"GET PATH HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
    b"OPTIONS PATH HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"PUT PATH HTTP/1.1\r\nContent-Length: 4\r\n\r\n",
  ],
)
def test_no_second_request_hides_in_the_body_of_a_first(caller, head):
  hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
  answer = exchange(caller, head.replace(b"PATH", PREDICT.encode()) + hidden)
  assert answer.count(b"HTTP/1.1 ") == 1


def test_connection_is_kept_between_requests(caller):
  host, port = caller.server.rest_address.split(":")
  connection = http.client.HTTPConnection(host, int(port), timeout=60)
  for _ in range(3):
    connection.request("GET", "/v1/models/captioner")
    assert json.loads(connection.getresponse().read())["model_version_status"]
  connection.close()


@pytest.mark.parametrize(
  "sent", [b"\x00\xff" * 40, b"GET", b"POST / HTTP/1.1\r\n\r\n", b"\r\n" * 99]
)
def test_random_bytes_do_not_disturb_the_next_request(caller, sent):
  host, port = caller.server.rest_address.split(":")
  with socket.create_connection((host, int(port)), timeout=60) as connection:
    connection.sendall(sent)
  assert caller.rest("/v1/models/captioner")[0] == 200


def test_metrics_and_health_are_served(caller):
  code, headers, text = caller.raw("/monitoring/prometheus/metrics")
  assert code == 200
  assert headers["Content-Type"].startswith("text/plain")
  assert b':tensorflow:serving:request_count{model_name="captioner",status="OK"}' in text
  assert b'gcap_serving_version_available{model_name="captioner",version="1"} 1' in text
  assert caller.raw("/healthz")[::2] == (200, b"ok\n")


def test_page_carries_a_content_policy_and_nothing_else_is_readable(caller):
  code, headers, _ = caller.raw("/")
  policy = headers["Content-Security-Policy"]
  assert code == 200
  assert "default-src 'none'" in policy and "script-src 'self';" in policy
  assert "unsafe" not in policy and "http" not in policy
  assert headers["Referrer-Policy"] == "no-referrer"
  for path in ("/page/../server.py", "/page/%2e%2e/server.py", "/samples/../../etc/passwd", "/x"):
    assert caller.raw(path)[0] == 404


def test_page_can_ask_which_labels_a_model_knows(caller):
  name, version = "captioner", 1
  assert caller.rest(f"/page/labels/{name}/{version}.json") == (200, {"names": None})
  assert caller.rest(f"/page/labels/{name}/99.json")[0] == 404


def test_strings_may_travel_as_base64(caller):
  encoded = {"b64": base64.b64encode(b"dog").decode()}
  code, answer = caller.rest(
    PREDICT, {"inputs": {"features": encoded, "boxes": [], "num_regions": []}}
  )
  assert code == 400
  assert 'input "features" must hold numbers of type float32 only' in answer["error"]


def test_open_connection_learns_that_the_server_has_stopped(tmp_path):
  tiny_models.save(tmp_path, 1)
  with harness.serving(tmp_path) as server:
    connection = http.client.HTTPConnection(server.rest_address, timeout=60)
    connection.request("GET", "/healthz")
    assert connection.getresponse().read() == b"ok\n"
    server._rest.drain(5)
    connection.request("POST", PREDICT, json.dumps({"instances": []}))
    answer = connection.getresponse()
    assert answer.status == 503
    assert json.loads(answer.read()) == {"error": "the server is stopping"}
    assert answer.getheader("Connection") == "close"
    connection.close()
    server._rest = None  # drained already


@pytest.mark.parametrize(
  ("request_line", "status"),
  [(b"GET / HTTP/9.9", 505), (b"GET", 400), (b"POST /", 400), (b"GET / HTTP/x", 400)],
)
def test_a_request_of_no_known_version_gets_a_status_line(caller, request_line, status):
  host, port = caller.server.rest_address.rsplit(":", 1)
  with socket.create_connection((host, int(port)), timeout=60) as connection:
    connection.sendall(request_line + b"\r\nHost: x\r\n\r\n")
    received = b""
    while part := connection.recv(4096):
      received += part
  assert received.startswith(f"HTTP/1.1 {status} ".encode())
