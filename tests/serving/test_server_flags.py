"""Tests of serving/server_flags.py."""

import contextlib

import pytest
from absl import flags
from absl.testing import flagsaver

from gcap_tf import errors
from serving import batching, server_flags
from serving.front import tls
from tests.serving import certificates

if "model_base_path" not in flags.FLAGS:
  server_flags.define()
with contextlib.suppress(flags.Error):
  flags.FLAGS(["test"])


def configured(tmp_path, **given):
  with flagsaver.flagsaver(model_base_path=str(tmp_path), **given):
    return server_flags.config()


def test_flags_of_tensorflow_model_server_are_honoured(tmp_path):
  (tmp_path / "monitoring.config").write_text(
    'prometheus_config { enable: true, path: "/measures" }'
  )
  found = configured(
    tmp_path,
    model_name="mine",
    rest_api_port=-1,
    monitoring_config_file=str(tmp_path / "monitoring.config"),
    rest_api_timeout_in_ms=1500,
    rest_api_num_threads=7,
    grpc_max_threads=9,
    enable_batching=False,
    enable_model_warmup=False,
    tensorflow_session_parallelism=3,
    enable_cors_support=True,
    grpc_socket_path="/run/gcap.sock",
    grpc_channel_arguments=["grpc.max_connection_age_ms=2000", "grpc.lb_policy_name=pick_first"],
  )
  assert found.models[0].name == "mine" and found.rest_port is None
  assert found.metrics_path == "/measures" and found.rest_seconds == 1.5
  assert found.limits.connections == 7 and found.rpc_threads == 9 and not found.warmup
  assert found.batching == batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0)
  assert (found.threads.intra_op, found.threads.inter_op) == (3, 3) and found.origins == ("*",)
  assert found.socket_path == "/run/gcap.sock"
  assert found.channel_arguments == (
    ("grpc.max_connection_age_ms", 2000),
    ("grpc.lb_policy_name", "pick_first"),
  )


def test_nothing_is_open_to_other_pages_by_default(tmp_path):
  found = configured(tmp_path)
  assert found.origins == () and found.bind == "127.0.0.1" and found.tls is None
  assert found.metrics_path == "/monitoring/prometheus/metrics"


def test_an_ssl_configuration_turns_tls_on(tmp_path):
  certificate, key = certificates.make(tmp_path)
  path = tmp_path / "ssl.config"
  texts = [each.read_text().replace("\n", "\\n") for each in (key, certificate)]
  path.write_text(f'server_key: "{texts[0]}" server_cert: "{texts[1]}" client_verify: false')
  tls.check(configured(tmp_path, ssl_config_file=str(path)).tls)


@pytest.mark.parametrize(
  ("given", "message"),
  [
    ({"cors_origin": ["a.example"]}, "is not an origin"),
    ({"cors_origin": ["https://a.example/page"]}, "is not an origin"),
    ({"tls_certificate": "x"}, "go together"),
    ({"tls_client_ca": "x"}, "needs --tls_certificate"),
    ({"tls_certificate": "x", "tls_key": "y", "ssl_config_file": "z"}, "not both"),
    ({"ssl_config_file": "WORDS"}, "SSL configuration"),
    ({"ssl_config_file": "EMPTY"}, "has no server_"),
    ({"ssl_config_file": "/no/such"}, "does not exist"),
    ({"monitoring_config_file": "WORDS"}, "monitoring configuration"),
    ({"monitoring_config_file": "BYTES"}, "monitoring configuration"),
    ({"token_file": "EMPTY"}, "must hold one word"),
    ({"token_file": "WORDS"}, "must hold one word"),
    ({"batching_parameters_file": "EMPTY", "enable_batching": False}, "contradicts"),
    ({"model_config_file": "x"}, "give one of"),
    ({"grpc_channel_arguments": ["grpc.keepalive_time_ms"]}, "is not NAME=VALUE"),
  ],
)
def test_wrong_flags_are_one_line(tmp_path, given, message):
  (tmp_path / "EMPTY").write_text("")
  (tmp_path / "WORDS").write_text("two words")
  (tmp_path / "BYTES").write_bytes(b"\xff\xfe")
  given = {
    name: str(tmp_path / value) if value in ("EMPTY", "WORDS", "BYTES") else value
    for name, value in given.items()
  }
  with pytest.raises(errors.UserError, match=message):
    configured(tmp_path, **given)
