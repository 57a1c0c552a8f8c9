"""Clips to frames: a folder of frames, an animated picture, or a video file.

    a folder             pictures in the order of their names: frame_2 stands before frame_10
    .gif .webp .png      animated; Pillow reads them
    .mp4 .mov .webm ...  PyAV, the maintained binding of FFmpeg's libraries:
                         pip install gcap_tf[video]

A clip of n frames gives F of them, spread evenly: the middle one of each of F equal parts,
floor((f + 1/2) n / F). A part of a clip, from `start` to `end` as shares of it, is cut first.
"""

import dataclasses
import pathlib
import re
from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageSequence, UnidentifiedImageError

from gcap_tf import errors, files, optional
from gcap_tf.vision import pictures

ANIMATED = (".gif", ".webp", ".png")
VIDEOS = (".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".mpg", ".mpeg", ".ogv")
_EXTRA = "video"


@dataclasses.dataclass(frozen=True)
class Clip:
  """Frames of a clip.

  Attributes:
    name: of the file without its ending, or of the folder.
    frames: uint8 [H, W, 3] each, all of one size.
    numbers: place of each among all frames of the clip.
    count: how many frames the clip has.
  """

  name: str
  frames: tuple[np.ndarray, ...]
  numbers: tuple[int, ...]
  count: int

  @property
  def size(self) -> tuple[int, int]:
    """Width and height."""
    height, width = self.frames[0].shape[:2]
    return width, height


def read(path: files.PathLike, frames: int, start: float = 0.0, end: float = 1.0) -> Clip:
  """Reads the frames of a clip.

  Args:
    path: a folder of pictures, an animated picture, or a video.
    frames: F; a shorter clip repeats some.
    start, end: the part of the clip to take, shares from 0 to 1.

  Raises:
    UserError: one line that names the file.
  """
  path = pathlib.Path(path)
  if not path.exists():
    raise errors.UserError(f"clip {path} does not exist")
  ending = path.suffix.lower()
  if path.is_dir():
    found, name = _of_folder(path, frames, start, end), path.name
  elif ending in ANIMATED:
    found, name = _of_animation(path, frames, start, end), path.stem
  elif ending in VIDEOS:
    found, name = _of_video(path, frames, start, end), path.stem
  else:
    raise errors.UserError(
      f"{path} is no clip; expected a folder of pictures, {', '.join(ANIMATED + VIDEOS)}"
    )
  taken, count = found
  numbers = chosen(count, frames, start, end)
  shapes = {taken[number].shape for number in numbers}
  if len(shapes) > 1:
    sizes = ", ".join(sorted(f"{shape[1]} x {shape[0]}" for shape in shapes))
    raise errors.UserError(f"{path} has frames of several sizes ({sizes}); make them alike")
  return Clip(name, tuple(taken[number] for number in numbers), numbers, count)


def chosen(count: int, frames: int, start: float = 0.0, end: float = 1.0) -> tuple[int, ...]:
  """The places of `frames` frames in the part of a clip of `count` frames, from 0."""
  first = min(count * start, count - 1)
  length = max(count * end - first, 1.0)
  places = first + (np.arange(frames) + 0.5) * length / frames
  return tuple(np.minimum(places.astype(int), count - 1).tolist())


def find(folder: files.PathLike) -> dict[str, pathlib.Path]:
  """The clips directly inside a folder by name: folders, animated pictures, videos."""
  folder = pathlib.Path(folder)
  if not folder.is_dir():
    raise errors.UserError(f"folder of clips {folder} does not exist")
  inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
  return {
    path.name if path.is_dir() else path.stem: path
    for path in inside
    if path.is_dir() or path.suffix.lower() in ANIMATED + VIDEOS
  }


Taken = tuple[dict[int, np.ndarray], int]  # frames by their place, and how many there are


def _of_folder(path: pathlib.Path, frames: int, start: float, end: float) -> Taken:
  inside = [each for each in path.iterdir() if each.suffix.lower() in pictures.ENDINGS]
  ordered = sorted((each for each in inside if not each.name.startswith(".")), key=_natural)
  if not ordered:
    raise errors.UserError(f"{path} holds no frames; looked for {', '.join(pictures.ENDINGS)}")
  wanted = sorted(set(chosen(len(ordered), frames, start, end)))
  return {number: pictures.read(ordered[number]) for number in wanted}, len(ordered)


def _natural(path: pathlib.Path) -> list[tuple[int, str]]:
  """Orders numbers inside names by their value."""
  parts = re.split(r"(\d+)", path.name)
  return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def _of_animation(path: pathlib.Path, frames: int, start: float, end: float) -> Taken:
  try:
    with Image.open(path) as opened:
      if opened.width * opened.height > pictures.MAX_PIXELS:
        raise errors.UserError(
          f"{path}: {opened.width} x {opened.height} pixels a frame, more than the limit of "
          f"{pictures.MAX_PIXELS:,}"
        )
      count = getattr(opened, "n_frames", 1)
      wanted = set(chosen(count, frames, start, end))
      taken = {}
      for number, frame in enumerate(ImageSequence.Iterator(opened)):
        if number in wanted:
          taken[number] = _over_white(frame)
  except UnidentifiedImageError:
    raise errors.UserError(f"{path}: an animation that is cut short or damaged") from None
  except (OSError, SyntaxError, EOFError) as error:
    raise errors.UserError(f"{path}: an animation that is cut short or damaged ({error})") from None
  return taken, count


def _over_white(frame: Image.Image) -> np.ndarray:
  drawn = frame.convert("RGBA")
  white = Image.new("RGBA", drawn.size, (255, 255, 255, 255))
  return np.asarray(Image.alpha_composite(white, drawn).convert("RGB"))


def _of_video(path: pathlib.Path, frames: int, start: float, end: float) -> Taken:
  """Counts the frames by their packets, then decodes once and keeps those that are wanted."""
  av = optional.require("av", _EXTRA)
  try:
    with av.open(str(path)) as container:
      if not container.streams.video:
        raise errors.UserError(f"{path} has no pictures, only sound or text")
      packets = container.demux(container.streams.video[0])
      count = sum(1 for packet in packets if packet.size)
    wanted, taken, seen = set(chosen(max(count, 1), frames, start, end)), {}, 0
    for number, frame in enumerate(_decoded(av, path)):
      seen, last = number + 1, frame
      if number in wanted:
        taken[number] = _upright(frame)
      if number == max(wanted):
        break
  except av.FFmpegError as error:
    raise errors.UserError(f"{path}: a video that is cut short or damaged ({error})") from None
  if not seen:
    raise errors.UserError(f"{path}: a video without frames, or in a format that is not known")
  # A stream may hold packets that do not decode; the last frame takes the place of those.
  return {number: taken[number] if number in taken else _upright(last) for number in wanted}, count


def _decoded(av, path: pathlib.Path) -> Iterator:
  with av.open(str(path)) as container:
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    yield from container.decode(stream)


def _upright(frame) -> np.ndarray:
  """A decoded frame as it is to be shown: telephones store a turn beside the frames."""
  turns = round(getattr(frame, "rotation", 0) / 90)
  return np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), turns))
