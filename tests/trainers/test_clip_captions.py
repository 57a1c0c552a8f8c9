import json

import numpy as np
import pytest
from PIL import Image

from gcap_tf.data.prepared import clip_sources
from tests.evaluation import clip_captioners
from tests.trainers import command_line

CAPTION = "trainers.caption"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
  """A run, and a clip as an animated picture."""
  folder = tmp_path_factory.mktemp("clips")
  data = clip_captioners.prepare_videos(folder)
  frames = clip_sources.frames_of(data.split("train").record(0))
  first, *others = [Image.fromarray(frame) for frame in frames]
  first.save(folder / "walk.png", save_all=True, append_images=others, duration=200)
  return clip_captioners.write_run(folder, data), folder / "walk.png"


def test_the_command_writes_rows_a_strip_and_a_page(made, tmp_path):
  run, clip = made
  (tmp_path / "broken.gif").write_bytes(b"GIF89a")
  done = command_line.run(
    CAPTION,
    f"--run={run}",
    f"--video={clip},{tmp_path / 'broken.gif'}",
    f"--out={tmp_path / 'out.json'}",
    f"--draw={tmp_path / 'drawn'}",
  )
  assert "broken.gif: an animation that is cut short" in command_line.error(done)
  assert "1 clip captioned" in done.stdout
  (row,) = json.loads((tmp_path / "out.json").read_text())
  assert np.shape(row["box_frames"]) == (len(row["words"]), 10, 4)
  with Image.open(tmp_path / "drawn" / "walk.png") as strip:
    assert strip.width > 10 * 150
  page = (tmp_path / "drawn" / "walk.html").read_text()
  assert page.count("data:image/jpeg") == 20 and "<script" not in page


def test_a_clip_needs_a_run(made):
  assert "--run is missing" in command_line.error(command_line.run(CAPTION, f"--video={made[1]}"))
