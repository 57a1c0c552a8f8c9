# bazel: data = ["//serving/configs:files"]

import pathlib
import shutil
import socket
import subprocess

import pytest

import serving
from export import saved_model
from serving.contract import cases, run
from tests.export import tiny_runs

SCRIPT = pathlib.Path(serving.__file__).parent / "configs" / "serve_with_tf_serving.sh"


def free_port():
  with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    return found.getsockname()[1]


def test_tensorflow_serving_keeps_the_whole_contract(tmp_path):
  if shutil.which("tensorflow_model_server") is None:
    pytest.skip("tensorflow_model_server is not installed")
  config = saved_model.ExportConfig(max_length=6, object_words=("man",))
  saved_model.export(tiny_runs.captioner_run(tmp_path), tmp_path / "captioner", config)
  ports = free_port(), free_port()
  server = subprocess.Popen(["sh", SCRIPT, tmp_path, *map(str, ports)])
  try:
    outcomes = run.check(*(f"127.0.0.1:{port}" for port in ports))
  finally:
    server.terminate()
    server.wait()
  assert outcomes == {case.__name__: "" for case in cases.CASES}
