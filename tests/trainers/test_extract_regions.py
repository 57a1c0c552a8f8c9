import numpy as np
import pytest

from gcap_tf.data.stores import store_formats
from tests.trainers import command_line
from tests.vision import picture_files, small_detector


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory):
  return small_detector.write_run(tmp_path_factory.mktemp("runs") / "run")


def test_bad_pictures_are_named_and_the_others_extracted(tmp_path, run):
  folder = tmp_path / "pictures"
  folder.mkdir()
  picture_files.photograph().save(folder / "good.jpg")
  (folder / "cut.jpg").write_bytes(picture_files.samples()["jpeg"][:400])
  (folder / "empty.jpg").write_bytes(b"")
  (folder / "text.png").write_text("hello")
  done = command_line.run(
    "trainers.extract_regions",
    f"--pictures={folder}",
    f"--out={tmp_path / 'store'}",
    f"--detector={run}",
    "--regions=5",
    "--workers=1",
    f"--draw={tmp_path / 'drawn'}",
  )
  assert done.returncode == 1 and "Traceback" not in done.stderr
  for name in ("cut.jpg", "empty.jpg", "text.png"):
    assert f"{name}: " in done.stderr
  assert "regions of 1 picture; 3 could not be read" in done.stdout
  store = store_formats.open_store(tmp_path / "store")
  assert store.ids() == ["good"]
  assert np.isfinite(store.get("good").features).all()
  assert [path.name for path in (tmp_path / "drawn").iterdir()] == ["good.jpg"]


def test_wrong_flags_are_one_line(tmp_path):
  (tmp_path / "a.png").write_bytes(b"")
  commands = [
    ("trainers.extract_regions", f"--pictures={tmp_path / 'none'}", "--out=o"),
    ("trainers.extract_regions", f"--pictures={tmp_path}", "--out=o", "--detector=a,b"),
  ]
  missing, several = command_line.run_many(commands)
  assert "do not exist" in command_line.error(missing)
  assert "add --cross_fit" in command_line.error(several)
