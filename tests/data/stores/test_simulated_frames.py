import numpy as np
import pytest

from gcap_tf.data.scenes import drawn_scenes, drawn_videos
from gcap_tf.data.stores import simulated_detector, simulated_frames
from tests.data import make_records

NOISY = simulated_detector.NoisyConfig(regions=4, feature_size=6)


@pytest.fixture(scope="module")
def record():
  return drawn_videos.record(drawn_scenes.SceneConfig(video=True), "train", 0, 10)


def test_every_frame_has_its_proposals(record):
  regions = simulated_frames.noisy(record, NOISY)
  assert regions.features.shape == (40, 6) and len(regions.labels) == 40
  np.testing.assert_array_equal(regions.frame, np.repeat(np.arange(10), 4))


def test_frames_have_their_mean_and_its_change(record):
  regions = simulated_frames.noisy(record, NOISY)
  mean = regions.features.reshape(10, 4, 6).mean(1)
  np.testing.assert_allclose(regions.grid_features[:, :6], mean, rtol=1e-5)
  assert not regions.grid_features[0, 6:].any()
  np.testing.assert_allclose(regions.grid_features[3, 6:], mean[3] - mean[2], atol=1e-6)
  assert regions.span == (0, 10)


def test_a_frame_sees_what_is_annotated_in_it(record):
  regions = simulated_frames.perfect(record)
  for frame in range(10):
    boxes = {tuple(thing.box_px) for thing in record.annotated if thing.frame == frame}
    assert {tuple(box) for box in regions.boxes_px[regions.frame == frame]} == boxes


def test_words_of_a_box_are_regions_of_its_frame(record):
  regions = simulated_frames.perfect(record)
  for word in record.captions[0].objects:
    for box in word.frame_boxes:
      here = [
        label
        for label, own, frame in zip(regions.labels, regions.boxes_px, regions.frame, strict=True)
        if frame == box.frame and np.array_equal(own, box.box_px)
      ]
      assert word.name in here


def test_pictures_are_left_to_the_detector_of_pictures():
  (picture,) = make_records.make_records(1)
  mine, other = simulated_frames.noisy(picture, NOISY), simulated_detector.noisy(picture, NOISY)
  np.testing.assert_array_equal(mine.features, other.features)
  assert mine.frame is None and mine.grid_features is None
  assert simulated_frames.perfect(picture).labels == simulated_detector.perfect(picture).labels
