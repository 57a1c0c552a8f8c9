"""Tests of trainers/demo_train.py and demo_page.py: every station for real, on few scenes."""
# bazel: size = "large"

import re

from PIL import Image

from tests.trainers import command_line


def test_the_demo_goes_from_drawing_to_served_pictures_and_starts_quickly_again(tmp_path):
  out = tmp_path / "demo"
  flags = ("--quick", "--pictures=3", f"--out={out}")
  done = command_line.run("trainers.demo_train", *flags)
  assert done.returncode == 0, done.stderr[-3000:]
  for figure in ("F1_loc", "F1_all", "attention accuracy", "CIDEr"):
    assert figure in done.stdout
  assert f"trainers.tensorboard --runs={out}/runs" in done.stdout
  pictures = sorted(path.name for path in out.glob("scene_*.png"))
  assert pictures == ["scene_01.png", "scene_02.png", "scene_03.png"]
  assert Image.open(out / "scene_01.png").width >= 320
  page = (out / "index.html").read_text()
  assert re.findall(r'src="(\w+\.png)"', page) == [*pictures, "attention.png"]
  assert (out / "model" / "1" / "saved_model.pb").exists()

  weights = (out / "runs" / "grounded" / "checkpoints" / "best" / "manifest.json").read_text()
  again = command_line.run("trainers.demo_train", *flags)
  assert again.returncode == 0, again.stderr[-3000:]
  assert "training" not in again.stderr
  kept = (out / "runs" / "grounded" / "checkpoints" / "best" / "manifest.json").read_text()
  assert kept == weights
