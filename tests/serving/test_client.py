import subprocess
import sys

import pytest
from PIL import Image

from gcap_tf import files
from serving import client, grpc_client
from tests.serving import harness, tiny_models, tiny_photographs


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
    "error: give one of --pictures=FILES, --detections=FILE, --regions=DIR and --data=DIR"
  )


@pytest.fixture(scope="module")
def photographer(tmp_path_factory):
  folder = tmp_path_factory.mktemp("photographer")
  tiny_photographs.save(folder)
  with harness.serving(folder) as server:
    yield server


def photographs(folder):
  """A picture whose upper left quarter is brightest, a black one and a damaged one."""
  folder.mkdir()
  bright = Image.new("RGB", (80, 60), (90, 90, 90))
  bright.paste((255, 255, 255), (0, 0, 40, 30))
  bright.paste((0, 0, 0), (40, 30, 80, 60))
  bright.save(folder / "a.jpg", quality=95)
  Image.new("RGB", (50, 50)).save(folder / "b.png")
  (folder / "c.jpg").write_text("no picture")
  return folder


def run_client(*arguments):
  program = [sys.executable, "-X", "importtime", "-m", "serving.client", *arguments]
  done = subprocess.run(program, capture_output=True, text=True, timeout=120)
  timed = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
  said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
  assert timed and not [line for line in timed if "| tensorflow\n" in line + "\n"]
  return done.returncode, done.stdout, said


def test_photographs_are_captioned_without_tensorflow_and_drawn(photographer, tmp_path):
  folder = photographs(tmp_path / "in")
  code, out, said = run_client(
    f"--server={photographer.address}",
    f"--pictures={folder}",
    f"--json={tmp_path}/out.json",
    f"--draw={tmp_path}/drawn",
  )
  assert code == 1
  assert said == [f"error: {folder}/c.jpg cannot be read: it is not a picture"]
  assert out.splitlines() == [
    f"{folder}/a.jpg: a cup near the window with a hat",
    "  cup              0.000 0.000 0.500 0.500  90 %",
    "  window           0.500 0.500 1.000 1.000  60 %",
    "  hat              not sure where it is     20 %",
    f"{folder}/b.png: (no caption: the model knows nothing in this picture)",
  ]
  first, second = files.read_json(tmp_path / "out.json")
  assert first["image_size"] == [80, 60]
  assert first["regions"][0]["label"] == "cup"
  assert (first["answered"], second["answered"], second["words"]) == (True, False, [])
  assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == ["a.png", "b.png"]


def test_captioner_of_regions_refuses_photographs_in_one_line(server, tmp_path):
  Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
  code, _, said = run_client(f"--server={server.address}", f"--pictures={tmp_path}/a.png")
  assert code == 1
  assert said == [
    'error: model captioner has no signature "caption_image"; it captions regions, not '
    "photographs: use --detections or --regions"
  ]
