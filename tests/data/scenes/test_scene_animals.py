import numpy as np
import pytest

from gcap_tf.data.scenes import scene_animals

POSES = {
  "dog": ("stand", "run", "sit"),
  "cat": ("sit", "walk"),
  "horse": ("stand", "run"),
  "bird": ("fly", "perch"),
}
CASES = [(name, pose) for name, poses in POSES.items() for pose in poses]
BROWN = (132, 86, 52)


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_every_pose_is_painted_whole_and_has_a_head(name, pose):
  pen = scene_animals.PAINTERS[name](BROWN, pose, 1.0, False)
  _, numbers = pen.finish()
  painted = numbers > 0
  assert painted.sum() > 150
  # Only feet may touch the tile's edge, the lower one.
  assert painted[0].sum() + painted[:, 0].sum() + painted[:, -1].sum() <= 4
  assert painted[-1].sum() <= painted[-3].sum()
  assert "head" in pen.parts


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_heads_look_right_and_left_when_mirrored(name, pose):
  def head_middle(mirrored):
    pen = scene_animals.PAINTERS[name](BROWN, pose, 1.0, mirrored)
    _, numbers = pen.finish()
    columns = np.flatnonzero((numbers == pen.parts.index("head") + 2).any(0))
    return columns.mean() / numbers.shape[1]

  assert head_middle(False) > 0.5 > head_middle(True)


def test_running_takes_more_room_than_standing():
  def width(pose):
    _, numbers = scene_animals.paint_horse(BROWN, pose, 1.0, False).finish()
    feet = np.flatnonzero((numbers[70:] > 0).any(0))
    return feet[-1] - feet[0]

  assert width("run") > 1.3 * width("stand")
