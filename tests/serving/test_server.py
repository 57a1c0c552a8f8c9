# bazel: data = ["//serving:server"]

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest
from PIL import Image

from gcap_tf.shipped import folders as shipped_folders
from serving import client, free_photographs
from serving import server as server_program
from tests.serving import harness, tiny_models, tiny_photographs


def start(*flags, **environment):
  return subprocess.Popen(
    [sys.executable, "-m", "serving.server", "--port=0", "--rest_api_port=0", *flags],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
  )


def metrics_of(page: str) -> str:
  with urllib.request.urlopen(f"{page}monitoring/prometheus/metrics", timeout=60) as answer:
    return answer.read().decode()


def test_sigterm_finishes_the_current_requests_and_exits_with_zero(tmp_path):
  tiny_models.save(tmp_path, 1)
  server = start(f"--model_base_path={tmp_path}", "--drain_seconds=60")
  try:
    address = re.fullmatch(r"gRPC on (\S+)\n", server.stdout.readline())[1]
    page = re.search(r"^REST and page on (http://127.0.0.1:\S+)", server.stdout.readline())[1]
    caller = client.Client(address)
    answers = []
    slow = {"seconds_in_tenths": np.array([20], np.int32)}
    asking = threading.Thread(target=lambda: answers.append(caller.predict(slow, "sleep")))
    asking.start()
    caller.predict(tiny_models.request(1, 1))
    harness.wait_until(lambda: 'signature="sleep"' in metrics_of(page))  # It is running.
    server.send_signal(signal.SIGTERM)
    assert server.wait(120) == 0
    asking.join(60)
    assert answers and answers[0]["done"].shape == (1,)
  finally:
    server.kill()
    server.communicate()


def test_without_flags_it_serves_the_shipped_captioners_with_samples(tmp_path):
  if not shipped_folders.MODEL.exists():
    pytest.skip("this tree has no shipped captioner")
  server = start(XDG_CACHE_HOME=str(tmp_path))
  try:
    address = re.fullmatch(r"gRPC on (\S+)\n", server.stdout.readline())[1]
    page = re.search(r"http://\S+", server.stdout.readline())[0]
    photographs = free_photographs.find()
    with urllib.request.urlopen(f"{page}samples/samples.json") as reply:
      assert len(json.load(reply)) == (len(photographs) or 12)
    asker = client.Client(address, model="labels")
    (answer,) = asker.caption(None, [np.float32([[0.1, 0.1, 0.6, 0.9]])], [["Dogs"]])
    assert answer.words and answer.grounded.any()
    asker.close()
    server.send_signal(signal.SIGTERM)
    assert server.wait(120) == 0
  finally:
    server.kill()
    server.communicate()


def test_the_old_name_of_the_rest_port_still_works(tmp_path):
  tiny_models.save(tmp_path, 1)
  server = start("--rest_port=-1", f"--model_base_path={tmp_path}")
  try:
    assert server.stdout.readline().startswith("gRPC on ")
    server.send_signal(signal.SIGTERM)
    assert server.communicate(timeout=120)[0] == "", "REST was not turned off"
  finally:
    server.kill()


@pytest.mark.parametrize(
  ("flags", "message"),
  [
    (
      ["--model_base_path=/no/such", "--model_config_file=/no/such"],
      "give one of --model_base_path=DIR and --model_config_file=FILE",
    ),
    (["--model_base_path=/no/such"], "the folder /no/such does not exist"),
    (["--model_config_file=/no/such"], "model configuration /no/such does not exist"),
  ],
)
def test_wrong_start_ends_in_one_line(flags, message):
  server = start(*flags)
  _, stderr = server.communicate(timeout=120)
  assert server.returncode == 1
  assert message in stderr.splitlines()[-1]
  assert "Traceback" not in stderr


def test_samples_are_photographs_for_a_captioner_of_photographs(tmp_path, monkeypatch):
  tiny_photographs.save(tmp_path / "photographs")
  tiny_models.save_namer(tmp_path / "labels")
  Image.new("RGB", (8, 8)).save(tmp_path / "cat.png")
  monkeypatch.setattr(free_photographs, "find", lambda: {"A cat": tmp_path / "cat.png"})
  titles = []
  for name in ("photographs", "labels"):
    folder = tmp_path / f"samples_{name}"
    server_program.write_samples(folder, tmp_path / name)
    titles.append([row["title"] for row in json.loads((folder / "samples.json").read_text())])
  assert titles[0] == ["A cat"]
  assert len(titles[1]) == 12
