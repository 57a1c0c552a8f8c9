import numpy as np

from gcap_tf.data import records
from gcap_tf.vision.extraction import clip_regions


class Extractor:
  """Sees one region more in every frame, and the frame's brightness as the whole picture."""

  def regions(self, image, image_id):
    assert image_id == "walk"
    level = float(image.mean())
    count = 1 + int(level)
    return records.Regions(
      boxes_px=np.ones([count, 4], np.float32),
      features=np.full([count, 2], level, np.float32),
      labels=("man",) * count,
      scores=np.ones(count, np.float32),
      global_feature=np.array([level, 5.0], np.float32),
    )


def test_regions_of_a_clip_know_their_frame_and_frames_their_change():
  frames = [np.full([4, 6, 3], level, np.uint8) for level in (0, 2, 1)]
  found = clip_regions.look(Extractor(), frames, "walk")
  assert found.frame.tolist() == [0, 1, 1, 1, 2, 2] and found.count == 6
  np.testing.assert_array_equal(found.grid_features, [[0, 5, 0, 0], [2, 5, 2, 0], [1, 5, -1, 0]])
  assert found.span == (0, 3)
