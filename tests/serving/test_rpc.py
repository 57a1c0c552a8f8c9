import socket
import ssl
import subprocess

import grpc
import pytest

from serving import client, rpc, status
from serving.front import tls as tls_lib
from tests.serving import harness, tiny_models

METHOD = f"/{rpc.PREDICTION_SERVICE}/"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  return folder


@pytest.fixture(scope="module")
def channel(base):
  with harness.serving(base) as server, grpc.insecure_channel(server.address) as channel:
    yield channel


@pytest.mark.parametrize("method", ["Predict", "GetModelMetadata"])
@pytest.mark.parametrize("sent", [b"\xff" * 64, b"\x0a\xff\xff\xff\xff\x0f", b"\x00"])
def test_bytes_that_are_no_message_are_invalid(channel, method, sent):
  with pytest.raises(grpc.RpcError) as error:
    channel.unary_unary(METHOD + method)(sent, timeout=10)
  assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
  assert f"the {len(sent)} bytes sent are not a tensorflow.serving" in error.value.details()


@pytest.mark.parametrize("method", ["Classify", "Regress", "MultiInference", "Nonsense"])
def test_other_methods_are_not_implemented(channel, method):
  with pytest.raises(grpc.RpcError) as error:
    channel.unary_unary(METHOD + method)(b"", timeout=10)
  assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_tokens_are_compared_whole():
  rpc.check_token("Bearer secret", "secret")
  for wrong in ("", "secret", "Bearer secre", "Bearer secret2", "Bearer é"):
    with pytest.raises(status.ServingError):
      rpc.check_token(wrong, "secret")


def test_tls_is_served_on_both_sides(base, tmp_path):
  made = subprocess.run(
    [
      *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
      *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
      *("-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"),
    ],
    capture_output=True,
    check=False,
  )
  if made.returncode:
    pytest.skip("openssl cannot make a certificate here")
  tls = tls_lib.Tls(tmp_path / "cert.pem", tmp_path / "key.pem")
  with harness.serving(base, tls=tls) as server:
    caller = client.Client(server.address, tls_ca=tmp_path / "cert.pem")
    assert caller.versions() == {1: "AVAILABLE"}
    caller.close()
    trust = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    host, port = server.rest_address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=20) as plain:
      secure = trust.wrap_socket(plain, server_hostname=host, suppress_ragged_eofs=False)
      secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      answer = b"".join(iter(lambda: secure.recv(4096), b""))  # fails where TLS is not closed
    assert answer.startswith(b"HTTP/1.1 200")
