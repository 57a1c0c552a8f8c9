import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors
from gcap_tf.vision import clips


def picture(number, size=(32, 24)):
  """A grey picture whose brightness says which frame it is."""
  return Image.new("RGB", size, (number * 10,) * 3)


def numbers_of(clip):
  """Frames recognised by their brightness."""
  return [round(float(frame.mean()) / 10) for frame in clip.frames]


def folder_of(path, count, **options):
  path.mkdir()
  for number in range(count):
    picture(number, **options).save(path / f"frame_{number}.png")
  return path


def write_video(path, count, size=(32, 24), codec="mpeg4"):
  av = pytest.importorskip("av")
  with av.open(str(path), "w") as container:
    stream = container.add_stream(codec, rate=10)
    stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
    for number in range(count):
      frame = av.VideoFrame.from_image(picture(number, size))
      container.mux(stream.encode(frame))
    container.mux(stream.encode(None))
  return path


@pytest.mark.parametrize(
  ("count", "frames", "start", "end", "expected"),
  [
    (20, 10, 0.0, 1.0, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]),
    (10, 10, 0.0, 1.0, list(range(10))),
    (4, 8, 0.0, 1.0, [0, 0, 1, 1, 2, 2, 3, 3]),
    (1, 3, 0.0, 1.0, [0, 0, 0]),
    (20, 5, 0.5, 1.0, [11, 13, 15, 17, 19]),
    (20, 2, 1.0, 1.0, [19, 19]),
  ],
)
def test_frames_are_the_middles_of_equal_parts(count, frames, start, end, expected):
  assert list(clips.chosen(count, frames, start, end)) == expected


def test_a_folder_is_read_in_the_order_of_its_numbers(tmp_path):
  clip = clips.read(folder_of(tmp_path / "walk", 12), 4)
  assert numbers_of(clip) == [1, 4, 7, 10] == list(clip.numbers)
  assert (clip.name, clip.count, clip.size) == ("walk", 12, (32, 24))
  assert clip.frames[0].dtype == np.uint8


@pytest.mark.parametrize("ending", [".gif", ".webp", ".png"])
def test_an_animated_picture_is_a_clip(tmp_path, ending):
  path = tmp_path / f"walk{ending}"
  first, *others = [picture(number) for number in range(6)]
  lossless = {"lossless": True} if ending == ".webp" else {}
  first.save(path, save_all=True, append_images=others, duration=100, **lossless)
  clip = clips.read(path, 3)
  assert numbers_of(clip) == [1, 3, 5] and clip.count == 6


def test_a_part_of_a_clip_is_cut_by_its_shares(tmp_path):
  assert numbers_of(clips.read(folder_of(tmp_path / "walk", 12), 3, 0.5, 1.0)) == [7, 9, 11]


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".avi"])
def test_a_video_file_is_a_clip(tmp_path, ending):
  clip = clips.read(write_video(tmp_path / f"walk{ending}", 20), 5)
  assert clip.numbers == (2, 6, 10, 14, 18) and clip.count == 20
  means = [frame.mean() for frame in clip.frames]
  np.testing.assert_allclose(means, [20, 60, 100, 140, 180], atol=6)


def test_a_damaged_video_is_one_line(tmp_path):
  path = write_video(tmp_path / "walk.mp4", 20)
  path.write_bytes(path.read_bytes()[:200])
  with pytest.raises(errors.UserError, match=r"walk\.mp4: a video that is cut short or damaged"):
    clips.read(path, 5)


def test_without_its_decoder_a_video_names_what_to_install(tmp_path, monkeypatch):
  monkeypatch.setitem(__import__("sys").modules, "av", None)
  (tmp_path / "walk.mp4").write_bytes(b"0")
  with pytest.raises(errors.UserError, match=r"av is not installed: pip install gcap_tf\[video\]"):
    clips.read(tmp_path / "walk.mp4", 5)


def test_a_clip_that_cannot_be_read_is_one_line(tmp_path):
  (tmp_path / "empty").mkdir()
  (tmp_path / "walk.txt").write_text("walk")
  (tmp_path / "walk.gif").write_bytes(b"GIF89a")
  folder_of(tmp_path / "mixed", 2)
  picture(3, size=(16, 24)).save(tmp_path / "mixed" / "frame_9.png")
  for name, message in (
    ("none.mp4", "does not exist"),
    ("empty", "holds no frames"),
    ("walk.txt", "is no clip; expected a folder"),
    ("walk.gif", "cut short or damaged"),
    ("mixed", "frames of several sizes .16 x 24, 32 x 24."),
  ):
    with pytest.raises(errors.UserError, match=message) as error:
      clips.read(tmp_path / name, 3)
    assert name in str(error.value) and "\n" not in str(error.value)


def test_the_clips_of_a_folder_are_found_by_name(tmp_path):
  folder_of(tmp_path / "walk", 1)
  for name in ("run.mp4", "jump.gif", "notes.txt", ".hidden.gif"):
    (tmp_path / name).write_bytes(b"")
  assert sorted(clips.find(tmp_path)) == ["jump", "run", "walk"]
  with pytest.raises(errors.UserError, match="folder of clips"):
    clips.find(tmp_path / "none")
