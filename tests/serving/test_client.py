import subprocess
import sys

import pytest
from PIL import Image

from gcap_tf import files
from serving import client, grpc_client
from tests.serving import harness, tiny_models


@pytest.fixture(scope="module")
def server(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  with harness.serving(folder) as server:
    yield server


def test_the_command_module_offers_the_library():
  assert client.Client is grpc_client.Client
  with pytest.raises(AttributeError):
    client.no_such_name  # noqa: B018


@pytest.mark.parametrize("command", ["serving.client", "serving.server", "serving.contract.run"])
def test_help_does_not_import_tensorflow(command):
  done = subprocess.run(
    [sys.executable, "-X", "importtime", "-m", command, "--help"],
    capture_output=True,
    text=True,
    timeout=120,
  )
  assert done.returncode == 0
  assert "Flags:" in done.stdout
  assert "| tensorflow\n" not in done.stderr


def test_command_captions_a_detections_file_and_draws_the_picture(server, tmp_path):
  inputs = tiny_models.request(1, 3)
  boxes = (inputs["boxes"][0] * [60, 40, 60, 40]).tolist()
  regions = [
    {"box": box, "feature": feature.tolist()}
    for box, feature in zip(boxes, inputs["features"][0], strict=True)
  ]
  detections = {"width": 60, "height": 40, "regions": regions}
  files.write_json(tmp_path / "d.json", detections)
  Image.new("RGB", (60, 40), "green").save(tmp_path / "p.png")
  done = subprocess.run(
    [
      *(sys.executable, "-m", "serving.client"),
      f"--server={server.address}",
      f"--detections={tmp_path}/d.json",
      f"--picture={tmp_path}/p.png",
      f"--out={tmp_path}/out.png",
      f"--json={tmp_path}/out.json",
    ],
    capture_output=True,
    text=True,
    timeout=120,
  )
  assert done.returncode == 0, done.stderr
  strongest = int(inputs["features"][0, :, 0].argmax())
  assert done.stdout.startswith(f"region{strongest} region{strongest}\n")
  answer = files.read_json(tmp_path / "out.json")
  assert answer["box_index"] == [strongest] * 2
  assert Image.open(tmp_path / "out.png").width >= 480


def test_command_without_regions_ends_in_one_line():
  done = subprocess.run(
    [sys.executable, "-m", "serving.client"], capture_output=True, text=True, timeout=120
  )
  assert done.returncode == 1
  assert done.stderr.splitlines()[-1] == (
    "error: give one of --detections=FILE, --regions=DIR and --data=DIR"
  )
