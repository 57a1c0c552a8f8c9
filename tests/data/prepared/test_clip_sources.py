import dataclasses

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors, files
from gcap_tf.data.prepared import clip_sources
from gcap_tf.vision.extraction import region_extractor
from tests.evaluation import clip_captioners


@pytest.fixture(scope="module")
def made(tmp_path_factory):
  """The data, and the frames of the first segment as a folder."""
  folder = tmp_path_factory.mktemp("clips")
  data = clip_captioners.prepare_videos(folder)
  clip = folder / "walk"
  clip.mkdir()
  for number, frame in enumerate(clip_sources.frames_of(data.split("train").record(0))):
    Image.fromarray(frame).save(clip / f"{number}.png")
  return data, clip


def test_clips_take_the_place_of_drawn_frames(made, tmp_path):
  """A folder of clips by segment or by video; segments without one are left out."""
  data, clip = made
  first, second = (data.split("train").record(n) for n in range(2))
  (tmp_path / "by_segment").mkdir()
  (tmp_path / "by_segment" / first.image_id).symlink_to(clip)
  found, kept = clip_sources.choose(
    str(tmp_path / "by_segment"),
    _Listed(first, second),
    {"train": [first.image_id, second.image_id]},
    0,
    _config(data),
    None,
  )
  assert kept == {"train": [first.image_id]} and not found.square
  (tmp_path / "by_video").mkdir()
  (tmp_path / "by_video" / first.segment.video).symlink_to(clip)
  source = dataclasses.replace(
    found, found={first.segment.video: tmp_path / "by_video" / first.segment.video}
  )
  # The second segment is the second half of its video.
  frames = source._frames(second)
  stored = [np.asarray(Image.open(clip / f"{n}.png")) for n in (5, 5, 6, 6, 7, 7, 8, 8, 9, 9)]
  np.testing.assert_array_equal(frames, stored)
  with pytest.raises(errors.UserError, match="holds no clip of"):
    clip_sources.choose(
      str(tmp_path / "by_video" / first.segment.video),
      _Listed(first), {"train": [first.image_id]}, 0, _config(data), None,
    )  # fmt: skip


class _Listed:
  """Records by id, as a reader has them."""

  source = "made"

  def __init__(self, *records):
    self._records = {record.image_id: record for record in records}

  def record(self, image_id, split):
    return self._records[image_id]


def _config(data):
  return region_extractor.ExtractionConfig(detector=data.info["detector"]["detector"])


def test_data_says_how_its_regions_were_made(made):
  data, _ = made
  found = files.read_json(data.folder / "dataset.json")["detector"]
  assert found["name"] == "clips" and found["regions"] == clip_captioners.REGIONS
  assert data.frames == 10 and data.max_regions == 10 * clip_captioners.REGIONS


def test_a_segment_without_frames_is_refused(made):
  data, _ = made
  record = dataclasses.replace(data.split("train").record(0), picture=b"")
  with pytest.raises(errors.UserError, match="carries no frames: give the folder of clips"):
    clip_sources.frames_of(record)
  with pytest.raises(errors.UserError, match="needs the folder of clips"):
    clip_sources.choose("", _Listed(record), {"train": [record.image_id]}, 0, _config(data), None)


def test_boxes_are_in_the_pixels_of_the_annotation(made):
  """ActivityNet-Entities has boxes of frames 720 wide, whatever the clip's own width."""
  data, clip = made
  record = data.split("train").record(0)
  wide = dataclasses.replace(record, width=720, height=720)
  from gcap_tf.runs import detector_runs

  source = clip_sources.ClipRegions(
    _config(data), detector_runs.load, {record.image_id: clip}, square=True
  )
  first, scaled = source.add(record).regions, source.add(wide).regions
  np.testing.assert_allclose(scaled.boxes_px, first.boxes_px * (720 / 320), rtol=1e-6)
  assert source.describe()["square"] is True
